//! `cyan import`.

use blueprint::Name;
use engine::{Options, Surgery};
use provider::Catalogs;

use crate::arguments::{Global, Import};
use crate::commands::state::{Place, change};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

pub(crate) async fn run(arguments: Import, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let Import { type_name, id, address, which, consent } = arguments;
    let type_name: Name = type_name.into();
    if id.is_empty() {
        return Err(CommandError::usage("the id is empty; name the provider's id of the thing"));
    }
    let namespace = Catalogs::namespace_of(&type_name).to_owned();
    let surgery = Surgery::Import { type_name, id: id.into(), address };
    let options = Options { refresh: false, surgery: Some(surgery), ..Options::default() };
    let place = Place { which, may_be_new: None, namespaces: vec![namespace] };
    change(place, options, &consent.into(), global, report).await
}
