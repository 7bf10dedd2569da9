//! Every management command in every interface, with the requests of the test of the doors.

use crate::canary::house::House;
use crate::common::{Person, Program};
use crate::doors::asking::{Case, Given};
use crate::doors::rows::{Door, row};
use crate::doors::stage::{Asker, Subject, Through};
use dwar_operator::{Access, Command, Requester, Role};

pub async fn walk(house: &House) {
    let askers = askers(house).await;
    for command in Command::ALL {
        for asker in &askers {
            for case in [Case::Right, Case::Wrong, Case::Beyond] {
                ask(house, command, asker, case).await;
            }
        }
    }
}

/// An operator with every right in each interface, and a viewer, who is refused many commands.
async fn askers(house: &House) -> Vec<Asker> {
    let service = house.service();
    let all = ["--name", "everything", "--everything", "--may-delegate"];
    let project = house.stage.ours.id.as_str();
    let of = ["--name", "viewer", "--project", project, "--role", Role::Viewer.as_str()];
    let owner = Person::join(service, &["--name", "everything", "--owner"]).await;
    let viewer = Access::one(project.parse().unwrap(), Role::Viewer);
    let asker = |access: &Access, through| Asker {
        by: Requester { access: access.clone(), ..Requester::command_line() },
        through,
    };
    let everything = Access::everything();
    vec![
        asker(&everything, Through::Cli),
        asker(&everything, Through::Api(Program::new(service, &all))),
        asker(&everything, Through::Pages(owner)),
        asker(&viewer, Through::Api(Program::new(service, &of))),
        asker(&viewer, Through::Pages(Person::join(service, &of).await)),
    ]
}

async fn ask(house: &House, command: Command, asker: &Asker, case: Case) {
    let (stage, row) = (&house.stage, row(command));
    let door = match asker.through {
        Through::Api(_) => &row.api,
        Through::Pages(_) => &row.pages,
        Through::Cli => &row.cli,
    };
    let Door::Calls(ways) = door else { return };
    for way in ways {
        let made: Subject;
        // Subjects are created only for allowed changes; others would stay unchanged.
        let changes = case == Case::Right && asker.by.access.everything;
        let subject = if row.about.lasts() || !changes {
            stage.kept(row.about, case)
        } else {
            made = stage.make(row.about, &stage.ours.id).await;
            &made
        };
        let (word, phone) = (stage.word(), house.phone());
        if !subject.phone.is_empty() {
            house.secrets().add_phone(&subject.phone);
        }
        let it = Given { case, stage, subject, word, phone };
        let Some(call) = way(&it) else { continue };
        // The test of the doors checks the answer.
        let _verdict = asker.ask(stage, &call).await;
    }
}
