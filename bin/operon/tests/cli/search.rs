//! `operon catalog search`: where a word is found decides the place in the answer.

use crate::support::operon_on as operon;

const CATALOG: &str = r#"
{"schema":"olm.package","name":"kafka","defaultChannel":"stable","description":""}
{"schema":"olm.channel","package":"kafka","name":"stable","entries":[{"name":"kafka.v1.0.0"}]}
{"schema":"olm.bundle","package":"kafka","name":"kafka.v1.0.0","image":"q.io/kafka:1","properties":[{"type":"olm.package","value":{"packageName":"kafka","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"kafka.io","version":"v1","kind":"Broker"}},{"type":"olm.csv.metadata","value":{"displayName":"Broker","keywords":["queue"],"provider":{"name":"Alpha"},"annotations":{"description":"A message broker"}}}]}
{"schema":"olm.package","name":"kafka-ui","defaultChannel":"stable","description":""}
{"schema":"olm.channel","package":"kafka-ui","name":"stable","entries":[{"name":"kafka-ui.v1.0.0"}]}
{"schema":"olm.bundle","package":"kafka-ui","name":"kafka-ui.v1.0.0","image":"q.io/kafka-ui:1","properties":[{"type":"olm.package","value":{"packageName":"kafka-ui","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"kafka-ui.io","version":"v1","kind":"Console"}},{"type":"olm.csv.metadata","value":{"displayName":"Console","keywords":[],"provider":{"name":"Beta"},"annotations":{"description":"Shows brokers"}}}]}
{"schema":"olm.package","name":"strimzi-kafka","defaultChannel":"stable","description":""}
{"schema":"olm.channel","package":"strimzi-kafka","name":"stable","entries":[{"name":"strimzi-kafka.v1.0.0"}]}
{"schema":"olm.bundle","package":"strimzi-kafka","name":"strimzi-kafka.v1.0.0","image":"q.io/strimzi-kafka:1","properties":[{"type":"olm.package","value":{"packageName":"strimzi-kafka","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"strimzi-kafka.io","version":"v1","kind":"KafkaTopic"}},{"type":"olm.csv.metadata","value":{"displayName":"Strimzi","keywords":["streams"],"provider":{"name":"Strimzi"},"annotations":{"description":"Runs brokers on clusters"}}}]}
{"schema":"olm.package","name":"bus","defaultChannel":"stable","description":""}
{"schema":"olm.channel","package":"bus","name":"stable","entries":[{"name":"bus.v1.0.0"}]}
{"schema":"olm.bundle","package":"bus","name":"bus.v1.0.0","image":"q.io/bus:1","properties":[{"type":"olm.package","value":{"packageName":"bus","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"bus.io","version":"v1","kind":"Bus"}},{"type":"olm.csv.metadata","value":{"displayName":"Bus for Kafka","keywords":[],"provider":{"name":"Gamma"},"annotations":{"description":"A bus"}}}]}
{"schema":"olm.package","name":"lake","defaultChannel":"stable","description":""}
{"schema":"olm.channel","package":"lake","name":"stable","entries":[{"name":"lake.v1.0.0"}]}
{"schema":"olm.bundle","package":"lake","name":"lake.v1.0.0","image":"q.io/lake:1","properties":[{"type":"olm.package","value":{"packageName":"lake","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"lake.io","version":"v1","kind":"Lake"}},{"type":"olm.csv.metadata","value":{"displayName":"Lake","keywords":["Kafka connect"],"provider":{"name":"Delta"},"annotations":{"description":"A lake"}}}]}
{"schema":"olm.package","name":"topics","defaultChannel":"stable","description":""}
{"schema":"olm.channel","package":"topics","name":"stable","entries":[{"name":"topics.v1.0.0"}]}
{"schema":"olm.bundle","package":"topics","name":"topics.v1.0.0","image":"q.io/topics:1","properties":[{"type":"olm.package","value":{"packageName":"topics","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"topics.io","version":"v1","kind":"KafkaTopic"}},{"type":"olm.csv.metadata","value":{"displayName":"Topics","keywords":[],"provider":{"name":"Epsilon"},"annotations":{"description":"Topics as resources"}}}]}
{"schema":"olm.package","name":"yarn","defaultChannel":"stable","description":"Works with kafka, and spins."}
{"schema":"olm.channel","package":"yarn","name":"stable","entries":[{"name":"yarn.v1.0.0"}]}
{"schema":"olm.bundle","package":"yarn","name":"yarn.v1.0.0","image":"q.io/yarn:1","properties":[{"type":"olm.package","value":{"packageName":"yarn","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"yarn.io","version":"v1","kind":"Yarn"}},{"type":"olm.csv.metadata","value":{"displayName":"Yarn","keywords":[],"provider":{"name":"Zeta"},"annotations":{"description":"A scheduler"}}}]}
"#;

#[test]
fn names_come_before_display_names_keywords_kinds_and_the_rest() {
    insta::assert_snapshot!(operon(CATALOG, &["search", "catalog", "KAFKA"]), @r"
    NAME           DISPLAY NAME   VERSION  CHANNEL  WHY                    ABOUT
    kafka          Broker         1.0.0    stable   name                   A message broker
    kafka-ui       Console        1.0.0    stable   name                   Shows brokers
    strimzi-kafka  Strimzi        1.0.0    stable   name                   Runs brokers on clusters
    bus            Bus for Kafka  1.0.0    stable   display name           A bus
    lake           Lake           1.0.0    stable   keyword kafka connect  A lake
    topics         Topics         1.0.0    stable   API KafkaTopic         Topics as resources
    yarn           Yarn           1.0.0    stable   description            A scheduler
    ");
}

#[test]
fn all_words_have_to_be_found() {
    insta::assert_snapshot!(operon(CATALOG, &["search", "catalog", "kafka brokers"]), @r"
    NAME           DISPLAY NAME  VERSION  CHANNEL  WHY            ABOUT
    kafka-ui       Console       1.0.0    stable   name, summary  Shows brokers
    strimzi-kafka  Strimzi       1.0.0    stable   name, summary  Runs brokers on clusters
    ");
    insta::assert_snapshot!(operon(CATALOG, &["search", "catalog", "strimzi", "kafka", "--limit", "1", "-o", "json"]), @r#"
    {
      "found": 1,
      "packages": [
        {
          "name": "strimzi-kafka",
          "displayName": "Strimzi",
          "version": "1.0.0",
          "channel": "stable",
          "why": [
            "name"
          ],
          "summary": "Runs brokers on clusters",
          "deprecation": null
        }
      ]
    }
    "#);
}

#[test]
fn what_is_not_shown_is_counted() {
    insta::assert_snapshot!(operon(CATALOG, &["search", "catalog", "kafka", "--limit", "2"]), @r"
    NAME      DISPLAY NAME  VERSION  CHANNEL  WHY   ABOUT
    kafka     Broker        1.0.0    stable   name  A message broker
    kafka-ui  Console       1.0.0    stable   name  Shows brokers
    5 more packages not shown; --limit 0 shows all
    ");
}

#[test]
fn nothing_found_is_a_negative_answer_with_a_hint() {
    insta::assert_snapshot!(operon(CATALOG, &["search", "catalog", "kafak"]), @r"
    no package matches `kafak`
    hint: did you mean `kafka`?
    exit code 1
    ");
    insta::assert_snapshot!(operon(CATALOG, &["search", "catalog", "kafka", "unobtainium"]), @r"
    no package matches `kafka unobtainium`
    hint: all words have to be found; try fewer
    exit code 1
    ");
}
