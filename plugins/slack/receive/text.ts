/** The text of a message: Slack's mrkdwn, read as Markdown. */

export interface People {
  readonly [id: string]: { readonly name?: string; readonly username?: string; readonly isBot?: boolean };
}

const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };
const decoded = (text: string) => text.replace(/&(?:amp|lt|gt);/g, (entity) => entities[entity] ?? entity);

/** `<@U1>`, `<@U1|ada>`, `<#C1|general>`, `<!here>`, `<!subteam^S1|@team>`, `<https://a.test|label>`. */
const angle = /<([^<>]{1,3000})>/g;

const mentioned = /<@([UWB][A-Z0-9]{2,})(?:\|[^<>]*)?>/g;

/** The ids that a text mentions, each once. */
export const mentionsIn = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(mentioned)].map(([, id]) => id as string)),
];

function readAngle(inner: string, people: People, isPlain: boolean): string {
  const bar = inner.indexOf("|");
  const target = bar < 0 ? inner : inner.slice(0, bar);
  const label = bar < 0 ? "" : inner.slice(bar + 1);
  const id = target.slice(1);
  if (target.startsWith("@")) return `@${label.replace(/^@/, "") || people[id]?.name || people[id]?.username || id}`;
  if (target.startsWith("#")) return `#${label || id}`;
  if (target.startsWith("!subteam")) return label || "@group";
  // A date, `<!date^1392734382^{date}|Feb 18>`, shows its label where it cannot be computed.
  if (target.startsWith("!")) return label || `@${id}`;
  const address = target.replace(/^mailto:/, "");
  if (label === "" || label === target || label === address) return address;
  return isPlain ? label : `[${label}](${target})`;
}

/** Marks stand at the edge of a word, and have no space inside. */
const marks = /(?<![\w*~`])([*~])(?=\S)([^*~\n]{0,2000}?\S)\1(?![\w*~`])/g;
const code = /(```[\s\S]*?```|`[^`\n]+`)/;

/**
 * The text as Markdown, and without marks. A mention of the bot at its beginning is left out, so that what follows can
 * be a command.
 */
export function readText(
  text: string,
  { me, people }: { readonly me: string; readonly people: People },
): { readonly text: string; readonly plain: string; readonly namesBot: boolean } {
  const namesBot = mentionsIn(text).includes(me);
  const rest = text.trimStart();
  const own = new RegExp(`^<@${me}(?:\\|[^<>]*)?>[\\s,:]*`);
  const asked = me === "" ? rest : rest.replace(own, "");
  const read = (isPlain: boolean) =>
    asked
      .split(code)
      .map((piece, index) => {
        const words = piece.replace(angle, (_whole, inner: string) => readAngle(inner, people, isPlain));
        if (index % 2 === 1) return decoded(words);
        const shown = words.replace(marks, (_whole, mark: string, inner: string) =>
          isPlain ? inner : mark.repeat(2) + inner + mark.repeat(2),
        );
        return decoded(shown.replace(/^&gt; ?/gm, isPlain ? "" : "> "));
      })
      .join("");
  return { text: read(false), plain: read(true), namesBot };
}
