//! Words that are names of people and mean something else as well.
//!
//! The lists are written by hand and short: what is missing from them is masked too often, and what is too much in
//! them is found with a capital letter only.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::words::plain;

/// How people are addressed: no name, though some write it before theirs.
const TITLES: &str = "\
    dame doctor frau fraulein herr junior lady lord madam madame mademoiselle meneer mevrouw miss misses \
    mister monsieur prof professor senhor senhora senior senor senora senorita signor signora signorina";

/// Words of English, German, French, Spanish, Italian, Portuguese and Dutch that are also first or last names, and names
/// of mailboxes, without accents.
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

/// Whether a word is how people are addressed.
pub(super) fn is_title(word: &str) -> bool {
    TITLES.split_whitespace().any(|title| title == plain(word).as_str())
}

/// Whether a word means something else beside being a name, or names an office.
pub(super) fn is_ordinary(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| ORDINARY.split_whitespace().collect());
    WORDS.contains(plain(word).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart_without_regard_to_case_and_accents() {
        assert!(is_ordinary("Will") && is_ordinary("KÖNIG") && is_ordinary("info"));
        assert!(!is_ordinary("Marguerite") && !is_ordinary("Vandersloot"));
        assert!(is_title("Señora") && is_title("Prof.") && !is_title("Grace"));
    }
}
