/**
 * Renders content other than text and files in words: a place, a contact, a poll, a gift, purchased or shared items.
 */
import { type Fields, id, list, number, record, text } from "./fields.ts";
import { filesOf, filesOfPollMedia, placeholderOf } from "./file-reference.ts";

/** How many items of one message are listed: people shared, winners, tasks. */
const mostListed = 100;

function coordinates(location: Fields | undefined): string | undefined {
  const latitude = number(location?.latitude);
  const longitude = number(location?.longitude);
  return latitude === undefined || longitude === undefined
    ? undefined
    : `${latitude.toFixed(6)}, ${longitude.toFixed(6)}`;
}

function location(fields: Fields): string | undefined {
  const at = coordinates(fields);
  if (at === undefined) return undefined;
  if (number(fields.live_period) !== undefined) return `🛰 Live location: ${at}`;
  const accuracy = number(fields.horizontal_accuracy);
  return `📍 ${at}${accuracy === undefined ? "" : ` (±${Math.round(accuracy)} m)`}`;
}

function venue(fields: Fields): string | undefined {
  const at = coordinates(record(fields.location));
  return at && `📍 ${[text(fields.title), text(fields.address)].filter(Boolean).join(", ")} (${at})`;
}

function nameOf(fields: Fields): string {
  const name = [text(fields.first_name), text(fields.last_name)].filter(Boolean).join(" ") || text(fields.title);
  const username = text(fields.username);
  return [name, username && (name ? `(@${username})` : `@${username}`)].filter(Boolean).join(" ");
}

function shared(fields: Fields, key: "user_id" | "chat_id"): string {
  return [nameOf(fields), id(fields[key]) && `id:${id(fields[key])}`].filter(Boolean).join(" ");
}

function contact(fields: Fields): string {
  const user = id(fields.user_id);
  const facts = [nameOf(fields), text(fields.phone_number), user && `id:${user}`].filter(Boolean).join(", ");
  return [`👤 Contact: ${facts}`, ...cardLines(text(fields.vcard) ?? "")].join("\n");
}

/** What the message says itself, or what is not for a reader. */
const unlisted = /^(?:begin|end|version|n|fn|tel|photo|logo|sound|key|prodid|uid|rev|x-[\w-]*)$/i;
const mostCardLines = 20;

/** The further lines of a vCard, such as mail addresses and companies. */
function cardLines(card: string): readonly string[] {
  return card
    .slice(0, 4_000)
    .replace(/\r?\n[ \t]/g, "")
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, name = "", value = ""] = /^(?:item\d+\.)?([\w-]{1,30})(?:;[^:]{0,200})?:(.{1,500})$/i.exec(line) ?? [];
      const fieldText = value
        .replace(/\\([,;\\])/g, "$1")
        .replace(/\\n/gi, " ")
        .replace(/;+/g, ", ")
        .replace(/^[, ]+|[, ]+$/g, "");
      return name === "" || fieldText === "" || unlisted.test(name) ? [] : [`- ${name.toLowerCase()}: ${fieldText}`];
    })
    .slice(0, mostCardLines);
}

/** What is shown with a poll or with one of its options. */
function pollMedia(fields: Fields | undefined): string | undefined {
  if (fields === undefined) return undefined;
  const [place, pin] = [record(fields.venue), record(fields.location)];
  const files = filesOfPollMedia(fields).map(placeholderOf).join(" ");
  return files || (place && venue(place)) || (pin && location(pin)) || text(record(fields.link)?.url);
}

const votes = (count: number): string => `${count} ${count === 1 ? "vote" : "votes"}`;

/** Votes are listed only if there are any. */
function poll(fields: Fields): string {
  const total = number(fields.total_voter_count) ?? 0;
  const right = new Set(
    [...list(fields.correct_option_ids), fields.correct_option_id].flatMap((each) => number(each) ?? []),
  );
  const options = records(fields.options).flatMap((each, index) => {
    const partText = [text(each.text), pollMedia(record(each.media))].filter(Boolean).join(" ");
    const facts = [total > 0 ? votes(number(each.voter_count) ?? 0) : "", right.has(index) ? "right answer" : ""]
      .filter(Boolean)
      .join(", ");
    return partText === "" ? [] : [`- ${partText}${facts === "" ? "" : ` (${facts})`}`];
  });
  const about = [text(fields.description), pollMedia(record(fields.media))].filter((piece) => piece !== undefined);
  const state = [
    fields.is_closed === true ? "closed" : "",
    total > 0 ? `${total} ${total === 1 ? "person" : "people"} voted` : "",
  ];
  const facts = state.filter(Boolean).join(", ");
  const explanation = text(fields.explanation);
  return [
    `📊 Poll: ${text(fields.question) ?? ""}${facts === "" ? "" : ` (${facts})`}`,
    ...about,
    ...options,
    ...(explanation === undefined ? [] : [`Explanation: ${explanation}`]),
  ].join("\n");
}

function task(fields: Fields): string {
  return `- [${id(fields.completion_date) ? "x" : " "}] ${text(fields.text) ?? ""}`;
}

function records(value: Fields[string] | undefined): Fields[] {
  return list(value)
    .slice(0, mostListed)
    .map(record)
    .filter((each) => each !== undefined);
}

function checklist(fields: Fields): string {
  return [text(fields.title) ?? "Checklist", ...records(fields.tasks).map(task)].join("\n");
}

function checklistOf(fields: Fields): Fields {
  return record(record(fields.checklist_message)?.checklist) ?? {};
}

function tasksAdded(fields: Fields): string {
  const title = text(checklistOf(fields).title);
  return [`Added to the checklist${title ? ` ${title}` : ""}:`, ...records(fields.tasks).map(task)].join("\n");
}

function tasksDone(fields: Fields): string {
  const known = checklistOf(fields);
  const title = text(known.title);
  const names = new Map(records(known.tasks).map((each) => [id(each.id), text(each.text)]));
  const lines = (box: string, ids: Fields[string] | undefined) =>
    list(ids)
      .slice(0, mostListed)
      .flatMap((each) => (id(each) === undefined ? [] : `- [${box}] ${names.get(id(each)) ?? `task ${id(each)}`}`));
  const changed = [...lines("x", fields.marked_as_done_task_ids), ...lines(" ", fields.marked_as_not_done_task_ids)];
  return [`Changed in the checklist${title ? ` ${title}` : ""}:`, ...changed].join("\n");
}

/** Amounts are in the smallest unit of a currency; how many make a whole one depends on the currency. */
function amount(fields: Fields): string {
  const currency = text(fields.currency) ?? "";
  const total = number(fields.total_amount) ?? 0;
  return currency === "XTR" ? `${total} stars` : `${total} of the smallest unit of ${currency}`;
}

function invoice(fields: Fields): string {
  const description = text(fields.description);
  return `🧾 Invoice: ${text(fields.title) ?? ""} (${amount(fields)})${description ? `\n${description}` : ""}`;
}

function day(seconds: Fields[string] | undefined): string {
  const at = number(seconds);
  return at === undefined || Math.abs(at) > 8e12 ? "" : new Date(at * 1_000).toISOString().slice(0, 10);
}

function prize(fields: Fields): string {
  const stars = number(fields.prize_star_count);
  const months = number(fields.premium_subscription_month_count);
  return [stars && `${stars} stars`, months && `${months} months of premium`, text(fields.prize_description)]
    .filter(Boolean)
    .join(", ");
}

function giveaway(fields: Fields): string {
  const facts = [`${number(fields.winner_count) ?? 0} winners`, day(fields.winners_selection_date), prize(fields)];
  return `🎁 Giveaway: ${facts.filter(Boolean).join(", ")}`;
}

function giveawayWinners(fields: Fields): string {
  const names = records(fields.winners).map(nameOf).filter(Boolean);
  const facts = [`${number(fields.winner_count) ?? 0} winners`, prize(fields)].filter(Boolean).join(", ");
  return `🎁 Giveaway ended: ${facts}${names.length > 0 ? `: ${names.join(", ")}` : ""}`;
}

function gift(fields: Fields): string {
  const given = record(fields.gift);
  const what = text(given?.base_name) ?? text(record(given?.sticker)?.emoji) ?? "";
  const serial = number(given?.number);
  const words = text(fields.text);
  return `🎁 Gift: ${what}${serial === undefined ? "" : ` #${serial}`}`.trim() + (words ? `\n${words}` : "");
}

/** Available files are referenced separately; media that was not bought has none. */
function paidMedia(fields: Fields): string {
  const shown = list(fields.paid_media)
    .slice(0, mostListed)
    .map((each) => {
      const [file] = filesOf(record(each) ?? {});
      return file === undefined ? "<media:image>" : placeholderOf(file);
    });
  return `Paid media (${number(fields.star_count) ?? 0} stars): ${shown.join(" ")}`;
}

function webAppData(fields: Fields): string {
  return `Web app ${text(fields.button_text) ?? ""}: ${text(fields.data) ?? ""}`;
}

/** In the order in which fields are tried: a venue, for example, also comes as a location. */
export const contentKinds: Readonly<Record<string, (fields: Fields) => string | undefined>> = {
  venue,
  location,
  contact,
  poll,
  dice: (fields) => `${text(fields.emoji) ?? "🎲"} ${number(fields.value) ?? ""}`.trim(),
  game: (fields) =>
    [`🎮 Game: ${text(fields.title) ?? ""}`.trim(), text(fields.description)].filter(Boolean).join("\n"),
  story: () => "<media:story>",
  checklist,
  checklist_tasks_done: tasksDone,
  checklist_tasks_added: tasksAdded,
  paid_media: paidMedia,
  invoice,
  successful_payment: (fields) => `💳 Payment made: ${amount(fields)}`,
  refunded_payment: (fields) => `💳 Payment given back: ${amount(fields)}`,
  giveaway,
  giveaway_winners: giveawayWinners,
  gift,
  unique_gift: gift,
  users_shared: (fields) =>
    `👥 Shared: ${records(fields.users)
      .map((each) => shared(each, "user_id"))
      .join(", ")}`,
  chat_shared: (fields) => `👥 Shared chat: ${shared(fields, "chat_id")}`,
  web_app_data: webAppData,
};
