/** A platform on which a person signs the bot in. */
import { actionProblem } from "../../../channels/index.ts";
import { reasonOf } from "../../../contract/index.ts";
import type { SignInAction } from "../../../sdk/contract.ts";
import { addressOf, type Bench, never, shown } from "../bench.ts";
import type { Rule } from "../rule.ts";
import { renderFields } from "../test-account.ts";
import { assertWithout } from "./secrets.ts";

const lastStatus = ({ test }: Bench) => test.statuses.at(-1);

/** Waits until the account asks for a person, from a number of reports on. */
async function asked(bench: Bench, from: number): Promise<SignInAction> {
  const found = () => bench.test.statuses.slice(from).findLast(({ action }) => action !== undefined);
  await bench.until(
    () => found() !== undefined,
    () =>
      `A person has to sign the bot in, but the last status is ${shown(lastStatus(bench))}. Report waiting with an ` +
      "action that says what to do.",
  );
  const { state, action = { text: "" } } = found() ?? {};
  if (state !== "waiting") throw new Error(`An action was reported with ${state}. Report it with waiting.`);
  const problem = actionProblem(action);
  if (problem !== undefined) throw new Error(`An action was reported that cannot be shown: ${problem}.`);
  return action;
}

async function signedIn(bench: Bench, from: number): Promise<SignInAction> {
  const action = await asked(bench, from);
  await bench.able("signIn")(action);
  await connected(bench, "The person has signed in");
  return action;
}

async function connected(bench: Bench, when: string): Promise<void> {
  await bench.until(
    () => lastStatus(bench)?.state === "connected",
    () => `${when}, but the last status is ${shown(lastStatus(bench))}.`,
  );
}

/** Begins to connect without a session. `start` may stay pending until the person has signed in. */
async function begin(bench: Bench): Promise<void> {
  await bench.able("signOut")();
  bench.connection.start().catch(() => {});
}

async function asksThePerson(bench: Bench): Promise<void> {
  await begin(bench);
  await signedIn(bench, 0);
  await bench.platform.write("after the sign-in");
  await bench.until(
    () => bench.messages().some(({ inbound }) => inbound.text.includes("after the sign-in")),
    () => "The person has signed in and written, but no message was received.",
  );
}

async function asksOnce(bench: Bench): Promise<void> {
  await begin(bench);
  await signedIn(bench, 0);
  await bench.connection.close();
  const before = bench.test.statuses.length;
  const next = bench.definition.open(bench.test.account as never);
  try {
    await bench.ending(next.start());
    await connected(bench, "The account is opened again after a sign-in");
    if (bench.test.statuses.slice(before).some(({ action }) => action !== undefined))
      throw new Error(
        "The account asks a person to sign in again after a restart. Store the session in account.secrets.",
      );
  } finally {
    await next.close();
  }
}

async function asksAgain(bench: Bench): Promise<void> {
  await begin(bench);
  await signedIn(bench, 0);
  const before = bench.test.statuses.length;
  await bench.able("signOut")();
  await signedIn(bench, before);
}

async function showsNoOne(bench: Bench): Promise<void> {
  await begin(bench);
  const { qr, code, url } = await signedIn(bench, 0);
  const { test, connection, definition } = bench;
  await bench.platform.write("Hello");
  await bench.until(
    () => bench.messages().length > 0,
    () => "The person has signed in and written, but no message was received.",
  );
  const [first] = bench.messages();
  if (first !== undefined) {
    const address = addressOf(definition, first.inbound);
    for (const part of bench.render("Good morning", address))
      await connection
        .send(part, address, never)
        .catch((error: unknown) => test.account.log.debug({}, reasonOf(error)));
  }
  const reported = test.statuses.map(({ action: _, ...status }) => renderFields(status));
  const shared = [qr, code, url].flatMap((text) => (text === undefined ? [] : [text]));
  assertWithout(
    [...test.obtained, ...shared],
    [...test.logged, ...reported].join("\n"),
    "What a sign-in needs or gives is in the log or in a status. Only the action of a status may contain it.",
  );
  const stored = JSON.stringify([test.received, await test.account.store.list()]);
  assertWithout(
    test.obtained,
    stored,
    "A secret of the account is in a stored event or in account.store. Keep it in account.secrets alone.",
  );
}

export const signInRules: readonly Rule[] = [
  { title: "sign-in > a person is asked, and then the account connects", needs: ["signIn"], run: asksThePerson },
  { title: "sign-in > a person is asked once, also over a restart", needs: ["signIn"], run: asksOnce },
  { title: "sign-in > a person is asked again if the platform ends the session", needs: ["signIn"], run: asksAgain },
  { title: "sign-in > codes and secrets are in no log, status or event", needs: ["signIn"], run: showsNoOne },
];
