//! t
fn main(){ let t=std::env::args().nth(1).unwrap().replace("\\n","\n"); let (tree,found)=syntax::parse(diag::FileId::new(0),&t,syntax::Format::Yaml); println!("{tree:#?}\n{:?}", found.iter().map(|f| (f.code.name,f.message.clone(),f.span())).collect::<Vec<_>>()); }
