//! Nothing: type errors, and what the compiler says about them, are in `tests/compile_fail`. They have a package of their own, since
//! they are built apart from all else, and of the library the least suffices.
