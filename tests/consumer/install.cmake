# SPDX-License-Identifier: BSD-2-Clause
# Installs what BUILD built, and moves it to PREFIX: what is installed must not know where it was.
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}_before)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}_before COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${PREFIX}_before ${PREFIX})
