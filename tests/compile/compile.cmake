# SPDX-License-Identifier: BSD-2-Clause
# Compiles SOURCE with COMPILER, FLAGS and MORE_FLAGS. With ERROR it must fail, with words that match, and with FIRST_ERROR by
# an error whose first line does; else it must compile, and with FOREIGN no header that it reads may match.
separate_arguments(MORE_FLAGS)
execute_process(COMMAND ${COMPILER} ${FLAGS} ${MORE_FLAGS} -H ${SOURCE} RESULT_VARIABLE result ERROR_VARIABLE output)
string(REGEX MATCHALL "(^|\n)\\.+ [^\n]+" headers "${output}")
string(REGEX REPLACE "(^|\n)(\\.+ |Multiple include guards)[^\n]*" "" words "${output}")

if(FIRST_ERROR)
  set(ERROR ${FIRST_ERROR})
  string(REGEX MATCH "error: [^\n]*" words "${words}")
endif()
if(ERROR)
  if(result EQUAL 0)
    message(FATAL_ERROR "${SOURCE} compiles, and must not")
  elseif(NOT words MATCHES "${ERROR}")
    message(FATAL_ERROR "The error does not speak of ${ERROR}:\n${words}")
  endif()
elseif(NOT result EQUAL 0)
  message(FATAL_ERROR "${words}")
endif()

if(FOREIGN)
  list(FILTER headers INCLUDE REGEX "${FOREIGN}")
  if(headers)
    message(FATAL_ERROR "It includes ${headers}")
  endif()
endif()
