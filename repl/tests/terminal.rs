//! The shell in a pseudo-terminal, used like a person would.
//!
//! Each step waits for the output of the previous one, with a timeout for slow machines.

#![cfg(unix)]

use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// The timeout of a wait.
const LONG: Duration = Duration::from_secs(120);

/// The output so far, and whether the terminal is closed.
type Screen = Arc<(Mutex<(String, bool)>, Condvar)>;

struct Shell {
    child: Child,
    keys: File,
    screen: Screen,
    /// The length of the output already inspected.
    seen: usize,
}

impl Shell {
    fn start(history: &Path) -> Shell {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("a terminal");
        unlockpt(&master).expect("a terminal");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let name = name.to_str().expect("a name");
        let end = || File::options().read(true).write(true).open(name);
        let (input, output, errors) = (end(), end(), end());
        let mut command = Command::new(env!("CARGO_BIN_EXE_lf"));
        command
            .env("LIVEFUSION_HISTORY", history)
            .env("NO_COLOR", "1")
            .env("TERM", "xterm")
            .stdin(input.expect("an end"))
            .stdout(output.expect("an end"))
            .stderr(errors.expect("an end"));
        let own_terminal = || {
            setsid()?;
            ioctl_tiocsctty(std::io::stdin())?;
            Ok(())
        };
        // SAFETY: between fork and exec the closure makes two system calls and nothing else.
        unsafe { command.pre_exec(own_terminal) };
        let child = command.spawn().expect("lf");
        // From here on, only the child holds its ends of the terminal.
        drop(command);
        let keys = File::from(master);
        let screen = Screen::default();
        let (mut shown, shared) = (keys.try_clone().expect("a file"), screen.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // At the end there is no data or an error, depending on the system.
            while let Ok(n @ 1..) = shown.read(&mut bytes) {
                let text = String::from_utf8_lossy(&bytes[..n]).into_owned();
                shared.0.lock().expect("the screen").0 += &text;
                shared.1.notify_all();
            }
            shared.0.lock().expect("the screen").1 = true;
            shared.1.notify_all();
        });
        let mut shell = Shell {
            child,
            keys,
            screen,
            seen: 0,
        };
        shell.wait_for("lf> ");
        shell
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("a key");
    }

    /// Waits until a text appears on the screen, after all texts waited for.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let start = Instant::now();
        let mut screen = self.screen.0.lock().expect("the screen");
        loop {
            if let Some(at) = screen.0[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            let left = LONG.saturating_sub(start.elapsed());
            assert!(
                !screen.1 && !left.is_zero(),
                "no {text:?} in {:?}",
                &screen.0[self.seen..]
            );
            screen = self
                .screen
                .1
                .wait_timeout(screen, left)
                .expect("the screen")
                .0;
        }
    }

    /// Enters a line, waits for an answer that is not part of the line, then for the next prompt.
    #[track_caller]
    fn enter(&mut self, line: &str, answer: &str) {
        self.press(line);
        self.press("\r");
        self.wait_for(answer);
        self.wait_for("lf> ");
    }

    /// Waits for the shell to end.
    fn end(mut self) {
        let start = Instant::now();
        let mut screen = self.screen.0.lock().expect("the screen");
        while !screen.1 {
            let left = LONG.saturating_sub(start.elapsed());
            assert!(!left.is_zero(), "the shell goes on");
            screen = self
                .screen
                .1
                .wait_timeout(screen, left)
                .expect("the screen")
                .0;
        }
        drop(screen);
        assert!(self.child.wait().expect("an end").success());
    }
}

impl Drop for Shell {
    /// A failed test leaves no shell running.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_day_in_the_shell() {
    let folder = tempfile::tempdir().expect("a folder");
    let history = folder.path().join("history");
    let mut shell = Shell::start(&history);
    shell.enter("let total = (1..=100).sum(); total", "5050");
    // The name is completed.
    shell.enter("tot\t + 1", "5051");
    // An incomplete line continues.
    shell.press("(1..=10).map(|x|\r");
    shell.enter("x * 1000).sum()", "55000");
    // The progress of a long loop is shown. Ctrl-C stops the loop, not the shell.
    shell.press("iota(4000000000000).map(|i| i % 7).sum()\r");
    shell.wait_for("loop 1 of 1");
    shell.press("\x03");
    shell.wait_for("cancelled");
    shell.wait_for("lf> ");
    // Definitions survive; an abandoned line is not evaluated.
    shell.press("1 + 23456");
    shell.wait_for("23456");
    shell.press("\x03");
    shell.wait_for("\n");
    shell.wait_for("lf> ");
    shell.enter("total + 2", "5052");
    shell.press("\x04");
    shell.end();

    // The next shell knows the lines, the last one first.
    let mut shell = Shell::start(&history);
    shell.enter("let total = 7000; total + 1", "7001");
    shell.enter("\x1b[A\x1b[A", "7002");
    shell.press(":quit\r");
    shell.end();
}
