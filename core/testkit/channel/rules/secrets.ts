/** Whether a secret of the options shows where people and other programs read. */
import { type Bench, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";
import { renderFields } from "../test-account.ts";
import { prepare } from "./send.ts";

/** Fails where one of the secrets is in a text, plain, in a URL or in base64. */
export function assertWithout(secrets: readonly string[], text: string, sentence: string): void {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64"),
  ]);
  if (forms.some((form) => text.includes(form))) throw new Error(sentence);
}

function assertAbsent({ secrets }: Bench, text: string, where: string): void {
  assertWithout(secrets, text, `A secret of the options is in ${where}. Omit URLs and headers with credentials.`);
}

const reports = ({ test: { logged, statuses } }: Bench) => [...logged, ...statuses.map(renderFields)].join("\n");

async function hidesInOutage(bench: Bench): Promise<void> {
  const send = await prepare(bench, "Hello");
  await bench.fail("away");
  const outcome = await bench.ending(send());
  const probe =
    bench.connection.probe === undefined ? undefined : await bench.ending(Promise.resolve(bench.connection.probe()));
  assertAbsent(bench, `${reports(bench)}\n${renderFields([outcome, probe])}`, "the log, in a status or in an error");
}

async function hidesInRefusal(bench: Bench): Promise<void> {
  const send = await prepare(bench, "Hello");
  await bench.fail("refuse");
  const outcome = await bench.ending(send());
  assertAbsent(bench, `${reports(bench)}\n${renderFields([outcome])}`, "the error of a refused send");
}

async function hidesInEvents(bench: Bench): Promise<void> {
  const { inbound, address } = await bench.meet("Hello");
  const stored = [bench.test.received, inbound, bench.render("Good morning", address)];
  assertAbsent(bench, JSON.stringify(stored), `the stored event, ${shown(Object.keys(inbound))}, or in a part`);
}

export const secretRules: readonly Rule[] = [
  { title: "secrets > none in the log, a status or an error of an outage", needs: ["away"], run: hidesInOutage },
  { title: "secrets > none in the error of a refused send", needs: ["refuse"], run: hidesInRefusal },
  { title: "secrets > none in events and parts", needs: [], run: hidesInEvents },
];
