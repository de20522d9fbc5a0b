//! A list of tasks in phases. A task is named by its text.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::tools::failure::Failure;

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Pending,
    InProgress,
    Completed,
    Abandoned,
    Blocked,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) content: String,
    pub(super) status: Status,
    /// What a blocked task waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) blocker: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Phase {
    pub(super) name: String,
    pub(super) tasks: Vec<Task>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct List {
    pub(super) phases: Vec<Phase>,
}

/// What an operation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target<'a> {
    Task(&'a str),
    Phase(&'a str),
}

impl List {
    /// Adds tasks to a phase, which is made where it is new.
    pub(super) fn append(&mut self, phase: &str, items: &[String]) -> Result<(), Failure> {
        let at = self.phases.iter().position(|known| known.name == phase).unwrap_or_else(|| {
            self.phases.push(Phase { name: phase.into(), tasks: Vec::new() });
            self.phases.len() - 1
        });
        for item in items {
            if self.tasks().any(|task| task.content == *item) {
                return Err(Failure(format!("there is a task `{item}` already")));
            }
            let task = Task { content: item.clone(), status: Status::Pending, blocker: None };
            self.phases[at].tasks.push(task);
        }
        Ok(())
    }

    /// Gives a task, or all tasks of a phase, a status.
    pub(super) fn set(
        &mut self,
        target: Target<'_>,
        status: Status,
        blocker: Option<&str>,
    ) -> Result<(), Failure> {
        self.check(target)?;
        for task in self.tasks_of_mut(target) {
            task.status = status;
            task.blocker = blocker.map(str::to_owned);
        }
        Ok(())
    }

    pub(super) fn unblock(&mut self, task: &str) -> Result<(), Failure> {
        self.check(Target::Task(task))?;
        if self.tasks().any(|known| known.content == task && known.status != Status::Blocked) {
            return Err(Failure(format!("the task `{task}` is not blocked")));
        }
        self.set(Target::Task(task), Status::Pending, None)
    }

    pub(super) fn remove(&mut self, target: Target<'_>) -> Result<(), Failure> {
        self.check(target)?;
        match target {
            Target::Phase(name) => self.phases.retain(|phase| phase.name != name),
            Target::Task(content) => {
                for phase in &mut self.phases {
                    phase.tasks.retain(|task| task.content != content);
                }
                self.phases.retain(|phase| !phase.tasks.is_empty());
            }
        }
        Ok(())
    }

    /// Leaves exactly one task in progress: the one that was `started`, else the first that is in progress, else the first that is
    /// pending. A blocked task never starts by itself.
    pub(super) fn settle(&mut self, started: Option<&str>) {
        let chosen = started.map(str::to_owned).or_else(|| {
            let first = |status| self.tasks().find(|task| task.status == status);
            let task = first(Status::InProgress).or_else(|| first(Status::Pending));
            task.map(|task| task.content.clone())
        });
        for task in self.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
            if Some(&task.content) == chosen.as_ref() {
                task.status = Status::InProgress;
            } else if task.status == Status::InProgress {
                task.status = Status::Pending;
            }
        }
    }

    fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.phases.iter().flat_map(|phase| &phase.tasks)
    }

    fn tasks_of_mut<'a>(&'a mut self, target: Target<'a>) -> impl Iterator<Item = &'a mut Task> {
        let is_meant = move |phase: &str, task: &str| match target {
            Target::Task(content) => task == content,
            Target::Phase(name) => phase == name,
        };
        self.phases.iter_mut().flat_map(move |phase| {
            let name = phase.name.clone();
            phase.tasks.iter_mut().filter(move |task| is_meant(&name, &task.content))
        })
    }

    fn check(&self, target: Target<'_>) -> Result<(), Failure> {
        let (kind, wanted, known): (_, _, Vec<&str>) = match target {
            Target::Task(task) => {
                ("task", task, self.tasks().map(|task| task.content.as_str()).collect())
            }
            Target::Phase(phase) => {
                ("phase", phase, self.phases.iter().map(|phase| phase.name.as_str()).collect())
            }
        };
        if known.contains(&wanted) {
            return Ok(());
        }
        let known = if known.is_empty() {
            "the list is empty".to_owned()
        } else {
            format!("there are `{}`", known.join("`, `"))
        };
        Err(Failure(format!("there is no {kind} `{wanted}`; {known}")))
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.phases.is_empty() {
            return f.write_str("The task list is empty.");
        }
        for (n, phase) in self.phases.iter().enumerate() {
            write!(f, "{}{}", if n == 0 { "" } else { "\n" }, phase.name)?;
            for task in &phase.tasks {
                let mark = match task.status {
                    Status::Pending => ' ',
                    Status::InProgress => '>',
                    Status::Completed => 'x',
                    Status::Abandoned => '-',
                    Status::Blocked => '!',
                };
                write!(f, "\n- [{mark}] {}", task.content)?;
                if let Some(blocker) = &task.blocker {
                    write!(f, " (blocked: {blocker})")?;
                }
            }
        }
        Ok(())
    }
}
