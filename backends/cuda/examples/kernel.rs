//! Prints the kernel of a loop in a file.

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let text = std::fs::read_to_string(path).expect("it is there");
    let text = text.split("\n# ----").next().unwrap_or(&text);
    let mut program = loop_lang::parse::parse(text).expect("a loop");
    loop_lang::gotos::derive_gotos(&mut program);
    match livefusion_cuda::emit::kernel(&program) {
        Ok(kernel) => print!("{}", kernel.text),
        Err(why) => println!("{why}"),
    }
}
