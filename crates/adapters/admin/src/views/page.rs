use serde::Serialize;
use std::borrow::Cow;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Array, Object, Ref, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// One page of a list.
#[derive(Serialize)]
pub struct Page<T: ToSchema> {
    items: Vec<T>,
    /// Cursor of the next page; null on the last page.
    next_cursor: Option<String>,
}

/// Implemented by hand, because the derived one gives the pages of all types the same name.
impl<T: ToSchema> ToSchema for Page<T> {
    fn name() -> Cow<'static, str> {
        format!("{}Page", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

impl<T: ToSchema> PartialSchema for Page<T> {
    fn schema() -> RefOr<Schema> {
        let items = Array::new(Ref::from_schema_name(T::name()));
        let cursor = Object::builder()
            .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
            .description(Some("Cursor of the next page; null on the last page."));
        let page = Object::builder().property("items", items).property("next_cursor", cursor);
        page.required("items").required("next_cursor").into()
    }
}

impl<T: ToSchema> Page<T> {
    /// Makes a page with the complete list and no next cursor.
    pub fn whole(items: impl IntoIterator<Item = T>) -> Self {
        Self { items: items.into_iter().collect(), next_cursor: None }
    }

    /// Makes a page of the first `limit` entries. The caller reads one more, which shows whether
    /// there are more.
    pub(crate) fn cut<O>(
        read: &[O],
        limit: u32,
        cursor: impl Fn(&O) -> String,
        view: impl Fn(&O) -> T,
    ) -> Self {
        let shown = &read[..read.len().min(limit as usize)];
        let next_cursor = shown.last().filter(|_| read.len() > shown.len()).map(cursor);
        Self { items: shown.iter().map(view).collect(), next_cursor }
    }
}
