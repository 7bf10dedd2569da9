//! The contracts can be kept: the shortest store there is keeps them all.

mod model;

dwar_testkit::store_contract_tests!((model::Model::open(false), ()));
