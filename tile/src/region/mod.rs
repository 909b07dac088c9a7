//! What is known of a loop and its statements, found once and shared by all that write code.
