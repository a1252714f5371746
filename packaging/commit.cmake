# cmake -DSOURCE=DIR -DOUT=FILE -P commit.cmake: writes the commit as a C++ string, and only where it has changed, so that
# nothing is compiled again for the same commit. SOURCE/packaging/COMMIT names it in sources without a repository.
execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
  if(EXISTS ${SOURCE}/packaging/COMMIT)
    file(STRINGS ${SOURCE}/packaging/COMMIT commit LIMIT_COUNT 1)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "\"${commit}\"\n")
