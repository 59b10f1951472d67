/**
 * Characters that look like a Latin letter or a bracket but that compatibility normalization (NFKD) does not convert to
 * one.
 */

/**
 * Characters of other alphabets, small variants of Latin letters, and characters used by ornamental text generators.
 */
const lookalikes: Readonly<Record<string, string>> = {
  a: "аɑαɐᴀ∂Ꭺӕąⱥꓮ𐌀ⲁᗩค卂ꭿᗅ",
  b: "ьᏏɓʙβᖯƀЬꓐ𐌁ⲃᗷᏴ乃",
  c: "сϲᴄⅽᏟȼ¢ςϛ©ꓚ𐌂ⲥᑕㄈ匚𐐕",
  d: "ԁɗᏧⅾᴅɖđᎠꓓ𐌃ᗞᗪ刀ᑯ",
  e: "еєҽ℮ɛεᴇℯҿɘəǝεᎬɇꓰ𐌄ⲉᗴᕮ乇ᛖ∈⋿",
  f: "ғƒꞙſϝꬵꓝ𐌅ᖴ千",
  g: "ɡǥᶃƍցɢԍꓖᏀ",
  h: "һհʜнᏂћħɦꓧ𐌇ⲏᕼᎻ卄",
  i: "іıɩιꙇӏᎥɪíǀꓲ𐌉ⲓ工",
  j: "јʝϳɉꓙᎫᒍ",
  k: "кκᴋҝқƙꓗ𐌊ⲕᏦᛕ",
  l: "ⅼʟɭłƚℓɫꓡ𐌋Ꮮᒪㄥꮮᴌⳑ",
  m: "мᴍⅿɱɯꓟ𐌌ⲙᎷᗰᛗ",
  n: "пոηɴռƞɲŋиνΝחꓠ𐌍ⲛᑎ几ภᴎ",
  o: "οоօσᴏⲟ૦๐ഠѳөøɵɔ°ჿꓳ𐌏๏ㄖ𐐬口⊙◯○●⭕",
  p: "рρᴘƿϸꓑ𐌐ⲣᏢᑭ卩",
  q: "ԛզգɋ",
  r: "гᴦʀɾɼꭇꮁᖇɍяꓣ𐌓ᏒᎡ®尺ᚱɹ",
  s: "ѕꜱʂƽᏚʃꓢ𐌔Ꮪᔕ",
  t: "тτᴛƭŧţтͲⲦᎢʈ†ꓔ𐌕ㄒՇ⊤✝ʇ",
  u: "υսᴜʋʊцᴗꓴ𐌖ᑌ",
  v: "νᴠѵⅴʌꓦᏙᐯ",
  w: "ѡԝᴡωɯшաꓪᎳᗯ",
  x: "хχ×⨯ⅹ᙮ӽҳжᕁꓫ𐌗ⲭ乂א᙭ᚷ✕✖❌⨉",
  y: "уүγʏყỿɣчꓬⲩ",
  z: "ᴢʐƶȥʑꓜᏃᘔ",
  "<": "≪⋘˂ᐸ≺⪡⫷⧀くᗕ⊰⪻⋖◁◂◃◄◀⊲⊂ᚲㄑ𒌋ᑉ˱ʿ𝈶",
  ">": "≫⋙˃ᐳ≻⪢⫸⧁ᗒ⊱⪼⋗▷▸▹►▶⊳⊃ᚳ˲ʾ",
  ":": "꞉∶ː։׃",
  "|": "¦ǀ∣│┃⎮❘ǁ‖",
};

/** Alphabets that are contiguous in Unicode, by the code point of their first letter. */
const rows = [0x1_f150, 0x1_f170, 0x1_f1e6];

function build(): ReadonlyMap<string, string> {
  const folds = new Map<string, string>();
  for (const [plain, others] of Object.entries(lookalikes)) {
    for (const other of others) if (!folds.has(other.toLowerCase())) folds.set(other.toLowerCase(), plain);
  }
  for (const first of rows) {
    for (let letter = 0; letter < 26; letter += 1)
      folds.set(String.fromCodePoint(first + letter), String.fromCharCode(97 + letter));
  }
  return folds;
}

/** Maps a lower-case look-alike to the character that it resembles. */
export const folds: ReadonlyMap<string, string> = build();
