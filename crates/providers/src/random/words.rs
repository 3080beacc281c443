//! The words of `random/pet`: friendly, in lower case, each once.
//!
//! A change of the lists does not change existing names, because they are stored in the state.

#[rustfmt::skip]
/// The first words of long names.
pub(super) const ADVERBS: &[&str] = &[
    "always", "barely", "boldly", "bravely", "briefly", "brightly", "broadly", "calmly", "cheerily", "clearly",
    "cleverly", "closely", "daily", "dearly", "deeply", "dreamily", "eagerly", "early", "easily", "evenly",
    "fairly", "fondly", "freely", "freshly", "fully", "gently", "gladly", "gracefully", "greatly", "happily",
    "heartily", "highly", "honestly", "hopefully", "joyfully", "keenly", "kindly", "lately", "lightly", "lively",
    "loosely", "loudly", "lovingly", "mainly", "merrily", "mildly", "mostly", "neatly", "newly", "nicely", "nimbly",
    "openly", "partly", "peacefully", "playfully", "politely", "proudly", "quickly", "quietly", "rapidly", "readily",
    "richly", "roundly", "safely", "smartly", "smoothly", "softly", "steadily", "sunnily", "surely", "sweetly",
    "swiftly", "tenderly", "thankfully", "tidily", "truly", "usually", "warmly", "widely", "wisely", "wonderfully",
];

#[rustfmt::skip]
/// Adjectives.
pub(super) const ADJECTIVES: &[&str] = &[
    "able", "agile", "airy", "alert", "amber", "ample", "ancient", "apt", "arctic", "artful", "autumn", "awake",
    "azure", "balanced", "bold", "bouncy", "brave", "breezy", "brief", "bright", "brisk", "bronze", "busy", "calm",
    "candid", "careful", "caring", "charming", "cheerful", "chilly", "chipper", "clear", "clever", "cloudy",
    "coastal", "coral", "cosy", "cozy", "crafty", "crisp", "curious", "curly", "dainty", "dapper", "daring",
    "dashing", "dazzling", "deep", "devoted", "dewy", "diligent", "dreamy", "eager", "earnest", "easy", "elegant",
    "emerald", "endless", "fabled", "fair", "faithful", "famous", "fancy", "fearless", "festive", "fine", "fluffy",
    "fond", "frank", "free", "fresh", "friendly", "frosty", "funny", "gallant", "gentle", "giddy", "glad",
    "gleaming", "glowing", "golden", "good", "graceful", "grand", "grateful", "green", "handy", "happy", "hardy",
    "hazel", "helpful", "honest", "hopeful", "humble", "icy", "ideal", "indigo", "ivory", "jaunty", "jolly",
    "jovial", "joyful", "keen", "kind", "lavender", "leafy", "light", "lively", "loyal", "lucid", "lucky", "lunar",
    "mellow", "merry", "mighty", "mild", "mindful", "minty", "misty", "modest", "mossy", "musical", "neat", "new",
    "nifty", "nimble", "noble", "novel", "olive", "open", "patient", "peaceful", "peachy", "pearly", "pebbly",
    "perky", "placid", "playful", "pleasant", "plucky", "plush", "polite", "prompt", "proud", "quaint", "quick",
    "quiet", "quirky", "rapid", "rare", "ready", "regal", "robust", "rosy", "royal", "ruby", "rustic", "sandy",
    "sapphire", "scarlet", "serene", "shiny", "silken", "silver", "sincere", "smart", "smiling", "smooth", "snappy",
    "snowy", "snug", "soft", "solar", "sparkling", "speedy", "spirited", "splendid", "spry", "stable", "steady",
    "stellar", "sturdy", "subtle", "sunny", "super", "sweet", "swift", "tall", "tame", "tender", "thankful",
    "thrifty", "tidy", "tranquil", "trusty", "upbeat", "valiant", "velvet", "verdant", "vivid", "warm", "wavy",
    "welcome", "whole", "wise", "witty", "wondrous", "young", "zesty",
];

#[rustfmt::skip]
/// Animals.
pub(super) const ANIMALS: &[&str] = &[
    "albatross", "alpaca", "antelope", "badger", "barbet", "bear", "beaver", "bee", "beetle", "bison", "blackbird",
    "bluebird", "boar", "bobcat", "bongo", "buck", "buffalo", "bullfinch", "bunny", "butterfly", "buzzard", "camel",
    "canary", "capybara", "caribou", "cat", "chaffinch", "chamois", "cheetah", "chickadee", "chipmunk", "cicada",
    "clam", "coati", "cod", "condor", "corgi", "cormorant", "cougar", "cow", "coyote", "crab", "crane", "cricket",
    "crow", "cuckoo", "curlew", "deer", "dingo", "dipper", "dolphin", "donkey", "dormouse", "dove", "dragonfly",
    "duck", "eagle", "eel", "egret", "eider", "elephant", "elk", "emu", "ermine", "falcon", "fawn", "ferret",
    "finch", "firefly", "flamingo", "foal", "fox", "frog", "gannet", "gazelle", "gecko", "gerbil", "gibbon",
    "giraffe", "gnu", "goat", "goldfinch", "goose", "gopher", "goshawk", "grebe", "grouse", "guppy", "hamster",
    "hare", "harrier", "hawk", "hedgehog", "heron", "hippo", "hoopoe", "hornbill", "horse", "hummingbird", "husky",
    "ibex", "ibis", "iguana", "impala", "jackal", "jackdaw", "jaguar", "jay", "kestrel", "kingfisher", "kitten",
    "kiwi", "koala", "koi", "kudu", "ladybug", "lamb", "lapwing", "lark", "lemming", "lemur", "leopard", "linnet",
    "lion", "lizard", "llama", "lobster", "loon", "lynx", "macaw", "magpie", "mallard", "manatee", "marmot",
    "marten", "martin", "meerkat", "merlin", "mink", "mole", "mongoose", "monkey", "moose", "moth", "mouse", "mule",
    "narwhal", "newt", "nightingale", "nuthatch", "ocelot", "octopus", "okapi", "opossum", "orca", "oriole", "oryx",
    "osprey", "ostrich", "otter", "owl", "ox", "oyster", "panda", "panther", "parrot", "partridge", "peacock",
    "pelican", "penguin", "perch", "petrel", "pheasant", "pigeon", "pika", "plover", "pony", "poodle", "porcupine",
    "possum", "ptarmigan", "puffin", "puma", "puppy", "quail", "quetzal", "quokka", "rabbit", "raccoon", "ram",
    "raven", "ray", "redstart", "reindeer", "rhino", "robin", "salmon", "sandpiper", "seahorse", "seal", "serval",
    "shark", "sheep", "shrew", "shrimp", "siskin", "skunk", "skylark", "sloth", "snail", "sparrow", "squid",
    "squirrel", "starling", "stoat", "stork", "swallow", "swan", "swift", "tapir", "tern", "thrush", "tiger",
    "toad", "toucan", "trout", "tuna", "turkey", "turtle", "vole", "wallaby", "walrus", "warbler", "weasel",
    "whale", "wolf", "wombat", "woodpecker", "wren", "yak", "zebra",
];
