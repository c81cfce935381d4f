//! Parts of values that count only as words, and the words that are not names alone.
//!
//! The lists were compiled manually and are short. A word that is missing is masked too often; a word too many is
//! found only with a capital letter.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::char::decompose_compatible;
use zeroize::Zeroizing;

/// A part of a value that counts only as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordPart {
    /// One word of a name, or the local part of an e-mail address.
    Name {
        /// The number of its letters and digits.
        letters: usize,
        /// True if it is also a common word.
        ordinary: bool,
    },
    /// A street, with a house number on the side where the value has it, or else on the other side.
    Street(NumberSide),
}

/// The side of the street on which a value has the house number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberSide {
    /// The number is before the street: `17 Quarry Road`.
    Before,
    /// The number is after the street: `Hauptstraße 17`.
    After,
}

/// Writes a word in small letters without accents or marks, to be compared with lists; wiped when dropped.
pub(super) fn plain(word: &str) -> Zeroizing<String> {
    let mut plain = Zeroizing::new(String::with_capacity(2 * word.len()));
    for c in word.chars().flat_map(char::to_lowercase) {
        match c {
            'ß' => plain.push_str("ss"),
            c => decompose_compatible(c, |part| plain.extend(part.is_alphanumeric().then_some(part))),
        }
    }
    plain
}

/// Tells if neither end of the span is inside a word.
pub(super) fn is_whole_word(text: &str, span: &Range<usize>) -> bool {
    let before = text.get(..span.start).and_then(|t| t.chars().next_back());
    let after = text.get(span.end..).and_then(|t| t.chars().next());
    !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
}

/// Titles and forms of address, which are no names.
const TITLES: &str = "\
    dame doctor frau fraulein herr junior lady lord madam madame mademoiselle meneer mevrouw miss misses \
    mister monsieur prof professor senhor senhora senior senor senora senorita signor signora signorina";

/// Words of English, German, French, Spanish, Italian, Portuguese and Dutch that are also first or last names, and
/// names of mailboxes, without accents.
const ORDINARY: &str = "\
    abbot abend accounts adler admin alba alves amber angel angeles apfel april auge august aurora autumn \
    bach back baker bakker ball bank banks barber baron base basil bass battle bauer baum beach bean bear \
    beek bein bell bella belle bells bento berg berger bernard berry best bianchi bill billing bird birne \
    bischof bishop black blanc blanca blanche blanco blank bloem bloom blue blum blume bobby bock body bois \
    bolt bond bonne bonnet book booker booth boulanger bowl bowler bowman branch branco brand braun bravo \
    bridge bridges bright broad brook brooks brot brown bruin brun bruno brush buck buddy bull bunny burger \
    burns busch bush buster butler cabello cable calle calvo campos candy careers carol carpenter carter \
    casa casas case cash castillo castle chambers chance charity chase cherry chevalier chiara child childs \
    christian christmas chuck church city clair clara clay clear clementine cloud coffee coin cole colin \
    comfort constance consuelo contact contacto contato contatto conti cook cooper corner costa cotton \
    couch counts court crane crew cross crow cruz crystal curry daisy dale dalla danger dark data dawn days \
    deacon deal dean dear deer degli dekker delgado dell della delle dello delos destiny dial diamond dick \
    dijk dollar dolly dolores domingo door dorn dotty dove drake draper drew driver dubois duke earl early \
    east easter email engel english ernst esperanza estrella ever face fair faith falke falls farmer \
    feather feld felicity fell fellow ferrari ferry field fields file fiore first fish fisher flag fleur \
    flint flor flores flower flowers fontaine fontana ford forest forrest fort foster four fournier frank \
    free freed freeman frei freitag french friar friend friends frohlich fromm frost fuchs fuentes fuller \
    funk fuss gabel gain gallo game garden gardener garner gate gates gatti gene gift ginger gioia glas \
    glass glove gold golden goldie good goods grace grand grande grant grass grave graves gray great greco \
    green greene grey groot gross ground guerrero guest gute hahn hale half hall hallo hals hammer hand \
    hands hard hardy harmony harp harper harry hart haus hazel head heard heart heather heaven hecht held \
    hello help herbst herd herrero high hight hill hills himmel hirsch holder holiday holland holly honey \
    hook hooks hope horn horse host hour hours house houses hunt hunter iglesias inch info iris iron item \
    jack jade jahr jardin jasmine jean jewel jewell jobs john joiner joint jolie jong josh jour joyce judge \
    jump jung just kaiser keen keep kern kettle keys kind king kirsch kitty klein knight koch konig koning \
    kontakt kopf kraft kramer krug kuhn kuiper kurz lachs lack lake lamb lance lane lang lange large last \
    late latter laws leaf leal lean lease left legend leite lemon leon leone leroy less lieb liebe light \
    lights lily lima line lines link list little lobo lock locke loffel long look looker loop lord loss \
    lots love lowe luck luna machado mail main maison major mall manual many marchand marin marino mark \
    marketing marks markt marquis marsh martin mason mass master masters match matos matt matter meals \
    means meat meister mela melody mercedes merchant mercier mercy merry mesa messer metal meunier meyer \
    michel mike milagros mild mile miles milk miller mills mind mine mint miss mittag model mois molen \
    molina monat mond money monk montag montes month monti moon moore mora more moreno morgen moss most \
    mount mouse much muller music name names near need neri nest neumann never neves news next nice nick \
    nieves night nine noble noir noreply norm north note nothing number nunes ochs ofen office olive \
    oliveira only opal open order orders outlaw outside over owen owens pace pack page pages paige paper \
    park parker parks part partner past pastor patience payne peace peak pearl pence penn penny people \
    pepper pereira perfect peter petit petite pfeffer phone pick pierce pierre pike pilar pine pink pinto \
    pires pitt plain plant platz play plum plumb point points polish polly pond pool poole pope porta \
    porter porto post potter potts pound power powers prado press preto prezzo price prices pride priest \
    prince prins print prior privacy prix proper proud prudence pure purple queen quick race rain raines \
    ramos randy rank read reader ready real reason record reed reeves regen reich reis remedios rest reyes \
    ribeiro ricci rice rich richter rico ride rider right ring rings rios rise rivers riviere road roads \
    robert robin rocha roche rock rocks rocky roll romano roof room rooms root roots rosa rosario rose \
    rosemary rossi rouge round roux rubio ruby rule ruler rush rusty sage sail saint sale sales salt salz \
    samstag sand sands sandy sant santa santi santo santos sapphire savage save says scale schmidt schnee \
    schneider school schulz schwan schwarz scott scout seal search season second seed self sell sells send \
    serra serrano service seven shade shadow sharp sharpe shaw sheet sheets shell shepherd ship shirt shoe \
    shop shore short shot show side sides sierra sign silk silva silver simple since singer site size skill \
    skin skip skye sleep small smart smit snow sold soler some sommer song sonne sonntag soon sorrow south \
    space spain spark sparks spear speed spicer spot spring square stack staff stage stamp stand standard \
    stands star stark start state stead steady steel steele stein stella step sterling stern still stock \
    stone storch store storey storm story strada street strong sturm style such sugar summer sunny support \
    sure swan sweet swift table tall tank tart tate taylor team tell teller temple temps term terry test \
    text than that them then there they thing this thorn three tide tile till time times tool tools topf \
    topper toro torres total touch tower towers town townsend trade train travel tree trees trip true trust \
    tuck tune turn turner twist type under unit vale valley value vega vera verdi vert victor view villa \
    villani ville vine viola violet virginia visit visser vogel vote wade wahl wait wake wald wales walk \
    walker wall walls want ward ware warm warren wash watch water waters watts wave ways wear weather \
    weaver weber webmaster week weeks weiss welcome well wells went were west what wheat wheel wheeler when \
    whip white wide wild will wing wings wink winter wire wise wish with witte woche wolf wolfe wonder wood \
    woods word words work worker works world worth wright year years yellow young youngs zeit zero ziel \
    zucker zwart";

/// Tells if a word is a title or a form of address.
pub(super) fn is_title(word: &str) -> bool {
    TITLES.split_whitespace().any(|title| title == plain(word).as_str())
}

/// Tells if a word is also a common word, or the name of a mailbox.
pub(super) fn is_ordinary(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| ORDINARY.split_whitespace().collect());
    WORDS.contains(plain(word).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_case_and_accents() {
        assert!(is_ordinary("Will") && is_ordinary("KÖNIG") && is_ordinary("info"));
        assert!(!is_ordinary("Marguerite") && !is_ordinary("Vandersloot"));
        assert!(is_title("Señora") && is_title("Prof.") && !is_title("Grace"));
    }
}
