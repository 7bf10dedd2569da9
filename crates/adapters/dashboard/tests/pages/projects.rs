use crate::support::House;
use dwar_operator::By;
use dwar_wallet::Amount;

#[actix_web::test]
async fn many_projects_are_looked_for_by_name_and_leafed_through() {
    let house = House::new().await;
    let (projects, by) = (&house.manage.projects, By::command_line());
    let owner = house.owner().await;
    assert!(!owner.get("/projects").await.body.contains("type=\"search\""), "two need no search");
    for number in 0..70 {
        let name = format!("Shop & {number:02}").parse().unwrap();
        projects.create(&by, &name, Amount::ZERO).await.unwrap();
    }

    let first = owner.get("/projects").await.body;
    assert_eq!(first.matches("class=\"tile\"").count(), 60);
    assert!(first.contains("Shop &amp; 57") && !first.contains("Shop &amp; 58"));
    let rest = owner.get(&more(&first).unwrap()).await.body;
    assert_eq!(rest.matches("class=\"tile\"").count(), 12);
    assert!(rest.contains("Shop &amp; 58") && rest.contains("Shop &amp; 69"));
    assert_eq!(more(&rest), None);

    let found = owner.get("/projects?name=sHOP%20%26%200").await.body;
    assert_eq!(found.matches("class=\"tile\"").count(), 10);
    assert!(found.contains("value=\"sHOP &amp; 0\""), "what was looked for stands in the field");
    let all = owner.get("/projects?name=shop+%26").await.body;
    let rest = owner.get(&more(&all).unwrap()).await.body;
    assert_eq!(rest.matches("class=\"tile\"").count(), 10, "the name is kept");
    let nobody = owner.get("/projects?name=%22%3E%3Cb%3E").await.body;
    assert!(nobody.contains("No projects match this name") && !nobody.contains("\"><b>"));
}

/// Where a list goes on.
fn more(page: &str) -> Option<String> {
    let link = page.split("<p class=\"more\"><a class=\"button\" href=\"").nth(1)?;
    Some(format!("/projects{}", link.split('"').next()?.replace("&amp;", "&")))
}
