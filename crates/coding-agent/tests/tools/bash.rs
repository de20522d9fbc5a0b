use std::fs;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use serde_json::json;

use crate::desk::{Desk, details, text};

/// The output without the line that tells the time.
fn timeless(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("Wall time: ")).collect();
    lines.join("\n").trim_end().to_owned()
}

/// The process whose number a command wrote into a file.
fn process(desk: &Desk, file: &str) -> Pid {
    let pid = String::from_utf8(desk.bytes(file)).unwrap();
    Pid::from_raw(pid.trim().parse().unwrap()).unwrap()
}

/// Waits until a process is gone, or is a zombie that nobody has buried.
async fn gone(pid: Pid) {
    let is_gone = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        test_kill_process(pid).is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
    };
    let wait = async {
        while !is_gone() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait).await.expect("the process lives on");
}

#[tokio::test]
async fn both_streams_come_in_the_order_in_which_they_were_written() {
    let desk = Desk::new();
    let output = desk.call("bash", json!({"command": "echo 1; echo 2 >&2; echo 3; pwd"})).await;
    let cwd = desk.path("").canonicalize().unwrap();
    assert_eq!(timeless(&text(&output)), format!("1\n2\n3\n{}", cwd.display()));
    assert!(text(&output).lines().last().unwrap().starts_with("Wall time: 0."));
    assert_eq!(details(&output)["exitCode"], 0);
    assert_eq!(details(&output)["timedOut"], false);
    assert_eq!(details(&output)["lines"], 4);
}

#[tokio::test]
async fn a_failure_ends_with_the_exit_code() {
    let desk = Desk::new();
    let output = desk.call("bash", json!({"command": "echo no; exit 3"})).await;
    assert!(output.is_error);
    assert!(text(&output).ends_with("seconds\nCommand exited with code 3"), "{}", text(&output));
    assert_eq!(details(&output)["exitCode"], 3);
    let killed = desk.call("bash", json!({"command": "kill -9 $$"})).await;
    assert_eq!(details(&killed)["exitCode"], 137);
    assert!(text(&killed).starts_with("(no output)\n\nWall time: "));
}

#[tokio::test]
async fn directory_and_variables_hold_for_one_call() {
    let desk = Desk::new();
    fs::create_dir(desk.path("sub")).unwrap();
    let call = json!({"command": "basename $PWD; echo $A $PAGER $TERM", "cwd": "sub", "env": {"A": "b c"}});
    assert_eq!(timeless(&desk.ok("bash", call).await), "sub\nb c cat dumb");
    let next = desk.ok("bash", json!({"command": "basename $PWD; echo [$A]"})).await;
    assert_eq!(timeless(&next), "work\n[]");
    assert!(
        desk.fails("bash", json!({"command": "true", "cwd": "nowhere"}))
            .await
            .ends_with("is no directory")
    );
}

#[tokio::test]
async fn a_command_has_no_input_no_terminal_and_no_keys() {
    // `HOME` stands for a key: any variable can be hidden.
    let desk = Desk::with(|context| context.options.shell.hidden_variables.push("HOME".into()));
    let command = "cat; : 2>/dev/null </dev/tty && echo terminal; echo [${HOME-hidden}]";
    assert!(
        timeless(&text(&desk.call("bash", json!({"command": command})).await))
            .ends_with("[hidden]")
    );
    assert!(!text(&desk.call("bash", json!({"command": command})).await).contains("terminal\n"));
}

#[tokio::test]
async fn output_is_plain_text() {
    let desk = Desk::new();
    let command = r"printf 'a\033[31mb\033[0m\r\n10%%\r99%%\nx\0y\377\n\033]0;title\007end'";
    let shown = desk.ok("bash", json!({"command": command})).await;
    assert_eq!(timeless(&shown), "ab\n99%\nx\u{fffd}y\u{fffd}\nend");
}

#[tokio::test]
async fn a_background_process_that_holds_the_pipe_does_not_delay_the_result() {
    let desk = Desk::new();
    // It ends when the test removes the file, or with the tools.
    let command = "while sleep 0.05; do :; done & echo $! > pid; echo done";
    let output = desk.call("bash", json!({"command": command})).await;
    assert_eq!(timeless(&text(&output)), "done");
    let pid = process(&desk, "pid");
    assert!(test_kill_process(pid).is_ok(), "what was started in the background lives on");
    drop(desk);
    gone(pid).await;
}

#[tokio::test]
async fn a_background_process_may_go_on_writing() {
    let desk = Desk::new();
    let command = "mkfifo gate; (read x < gate; echo late; echo $? > status) & echo now";
    assert_eq!(timeless(&desk.ok("bash", json!({"command": command})).await), "now");
    let released = "echo go > gate; until [ -s status ]; do sleep 0.01; done; cat status";
    assert_eq!(timeless(&desk.ok("bash", json!({"command": released, "timeout": 20})).await), "0");
}

#[tokio::test]
async fn a_command_out_of_time_is_ended_with_its_group() {
    let desk = Desk::new();
    let command = "sleep 1000 & echo $! > child; echo so far; wait";
    let output = desk.call("bash", json!({"command": command, "timeout": 1})).await;
    assert!(output.is_error);
    assert!(text(&output).starts_with("so far\n\nWall time: "));
    assert!(text(&output).ends_with("\nCommand timed out after 1 seconds"), "{}", text(&output));
    assert_eq!(details(&output)["timedOut"], true);
    assert_eq!(details(&output)["exitCode"], json!(null));
    gone(process(&desk, "child")).await;
}

#[tokio::test]
async fn a_cancelled_command_is_ended_with_its_group_even_if_it_will_not_listen() {
    let desk = Desk::new();
    let command = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ > child; echo ready; while :; do sleep 1; done'";
    let call = desk.call("bash", json!({"command": command}));
    let cancel = async {
        desk.updates.1.notified().await;
        desk.cancel.cancel();
    };
    let (output, ()) = tokio::join!(call, cancel);
    assert!(output.is_error);
    assert!(text(&output).starts_with("ready\n"));
    assert!(text(&output).ends_with("\nCommand was cancelled"));
    gone(process(&desk, "child")).await;
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_its_command() {
    let desk = Desk::new();
    let call = desk.call("bash", json!({"command": "echo $$ > child; echo ready; sleep 1000"}));
    tokio::select! {
        _ = call => panic!("ended by itself"),
        () = desk.updates.1.notified() => {}
    }
    gone(process(&desk, "child")).await;
}

#[tokio::test]
async fn long_output_is_cut_and_kept_whole() {
    let desk = Desk::new();
    let output = desk.call("bash", json!({"command": "seq 1 100000"})).await;
    let shown = text(&output);
    assert!(shown.starts_with("1\n2\n3\n"));
    assert!(shown.contains("\n500\n\n[… 99,000 lines, "), "{}", &shown[1800..2100]);
    assert!(shown.contains(
        "\n100000\n\n[Showing the first 500 and the last 500 of 100,000 lines. Full output: artifact://0]\n\nWall time: "
    ));
    assert_eq!(details(&output)["artifactId"], 0);
    assert_eq!(details(&output)["meta"]["truncation"]["totalLines"], 100_000);
    let kept = fs::read(desk.outside().join("kept/0.bash.log")).unwrap();
    assert_eq!(kept, (1..=100_000).map(|n| n.to_string() + "\n").collect::<String>().as_bytes());
    let page = desk.ok("read", json!({"path": "artifact://0:raw:50000-50001"})).await;
    assert!(page.starts_with("50000\n50001\n"));
    assert!(
        text(&desk.call("bash", json!({"command": "seq 1 100000"})).await)
            .contains("artifact://1]")
    );
}

#[tokio::test]
async fn long_output_that_cannot_be_kept_is_cut_all_the_same() {
    let desk = Desk::new();
    fs::write(desk.outside().join("kept"), "a file where the folder should be").unwrap();
    let output = desk.call("bash", json!({"command": "seq 1 100000"})).await;
    assert!(!output.is_error);
    assert!(text(&output).contains("lines. Full output was not saved]"));
}

#[tokio::test]
async fn of_output_without_end_the_start_is_kept() {
    let desk = Desk::with(|context| context.options.shown.kept_bytes = 60_000);
    let output = desk.call("bash", json!({"command": "seq 1 100000"})).await;
    assert!(text(&output).contains("\n100000\n\n["));
    assert!(text(&output).contains("lines. Start of the full output: artifact://0]"));
    assert_eq!(fs::read(desk.outside().join("kept/0.bash.log")).unwrap().len(), 60_000);
}

#[tokio::test]
async fn one_endless_line_is_cut() {
    let desk = Desk::new();
    let shown = desk.ok("bash", json!({"command": "head -c 3000000 /dev/zero | tr '\\0' x"})).await;
    assert!(shown.len() < 5000, "{}", shown.len());
    assert!(shown.starts_with(&format!("{}…\n\n[… ", "x".repeat(768))));
}

#[tokio::test]
async fn background_jobs_are_refused() {
    let refused = Desk::new().fails("bash", json!({"command": "true", "background": true})).await;
    assert!(refused.starts_with("Background jobs are not available yet."));
}
