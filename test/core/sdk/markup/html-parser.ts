/**
 * Reads the platform's HTML as strictly as it does: known tags, properly nested, known entities; anything else is an
 * error.
 */

export interface ParsedTag {
  readonly name: string;
  readonly start: number;
  end: number;
  readonly attributes: string;
}

const opening =
  /^<(b|i|u|s|tg-spoiler|code|pre|blockquote|blockquote expandable|a href="[^"<>]*"|code class="language-[^"<>\s]*")>/;
const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };

export function parseStrictHtml(html: string): { readonly text: string; readonly tags: readonly ParsedTag[] } {
  const open: ParsedTag[] = [];
  const tags: ParsedTag[] = [];
  let text = "";
  let at = 0;
  while (at < html.length) {
    const rest = html.slice(at, at + 4096);
    if (rest.startsWith("</")) {
      const name = /^<\/([a-z-]+)>/.exec(rest)?.[1];
      const last = open.pop();
      if (name === undefined || last?.name !== name)
        throw new Error(`unexpected end tag at ${at}: ${rest.slice(0, 40)}`);
      last.end = text.length;
      if (last.end === last.start) throw new Error(`empty <${name}> at ${at}`);
      at += name.length + 3;
    } else if (rest.startsWith("<")) {
      const found = opening.exec(rest);
      if (found?.[1] === undefined) throw new Error(`unsupported start tag at ${at}: ${rest.slice(0, 40)}`);
      const [name = "", ...attributes] = found[1].split(" ");
      const tag = { name, start: text.length, end: -1, attributes: attributes.join(" ") };
      const inside = open.map((each) => each.name);
      if (inside.includes(name)) throw new Error(`<${name}> in itself at ${at}`);
      if (inside.some((each) => each === "code" || (each === "pre" && name !== "code")))
        throw new Error(`<${name}> inside code at ${at}`);
      open.push(tag);
      tags.push(tag);
      at += found[0].length;
    } else if (rest.startsWith("&")) {
      const entity = /^&(?:amp|lt|gt|quot);/.exec(rest)?.[0];
      if (entity === undefined) throw new Error(`bare & at ${at}: ${rest.slice(0, 20)}`);
      text += entities[entity];
      at += entity.length;
    } else if (rest.startsWith(">")) {
      throw new Error(`bare > at ${at}`);
    } else {
      text += html[at];
      at += 1;
    }
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)?.name}> is not closed`);
  return { text, tags };
}
