# SPDX-License-Identifier: BSD-2-Clause
# Makes a program of a page's C++ blocks: of the number-th one that has a main, or for 0 of all the others.
# With count=1 prints how many there are of the others and of those with a main; with prints=1 what the page says that
# the number-th program prints.

function fail(words) {
  print page ":" FNR ": " words > "/dev/stderr"
  failed = 1
  exit 1
}

# The lines of a block that ends here: a function, more of the one before, or a program of its own.
function take(   code) {
  code = "#line " first " \"" page "\"\n" text
  if (is_program) {
    ++programs
    if (programs == number) program = code
  } else {
    ++blocks
    if (kind == "continues" && !open) fail("nothing to continue")
    if (kind != "continues") {
      close_function()
      functions = functions "static void Block" first "() {\n"
      calls = calls "  Run(\"" page ":" first "\", Block" first ");\n"
      open = 1
    }
    functions = functions code
  }
}

function close_function() {
  if (open) functions = functions "}\n"
  open = 0
}

/^```/ && inside {
  inside = 0
  if (kind == "prints") {
    if (!programs || (programs in printed)) fail("no program prints this")
    printed[programs] = text
  } else if (kind != "no-test") {
    take()
  }
  next
}

/^```text prints$/ {
  kind = "prints"
  inside = 1
  text = ""
  next
}

/^```cpp/ {
  kind = $2
  if (kind !~ /^(continues|no-test)?$/) fail("an unknown kind of block: " kind)
  inside = 1
  first = FNR + 1
  text = ""
  is_program = 0
  next
}

inside && kind != "prints" && /^int main\(/ { is_program = 1 }
inside && kind != "prints" && /^#include/ { includes = includes $0 "\n" }
inside { text = text $0 "\n" }

END {
  if (failed) exit 1
  if (inside) fail("a block that does not end")
  close_function()
  if (count) {
    print blocks + 0, programs + 0
  } else if (prints) {
    printf "%s", printed[number]
  } else if (number) {
    printf "%s", program
  } else {
    print "#include <cassert>\n#include <cstdio>\n#include <exception>\n\n#include <ferry/ferry.hpp>\n" includes
    print "static int failures = 0;"
    print "static void Run(const char* where, void (*block)()) try {\n  block();"
    print "} catch (const std::exception& error) {"
    print "  ++failures;\n  std::fprintf(stderr, \"%s: %s\\n\", where, error.what());\n}\n"
    print functions
    print "int main() {\n" calls "  return failures;\n}"
  }
}
