/** Code that misbehaves, a gateway that has it, and calls of it over the wire. */
import { createWire, renderRequest, type WireAnswer } from "../support/wire.ts";
import { bearer, type HookGateway, jsonType, startHookGateway } from "./hook-room.ts";

const limitSeconds = 0.5;

/** Each spoils its own call. */
export const spoilt: Readonly<Record<string, string>> = {
  loops: "export default () => { for (;;); };",
  "never resolves": "export default () => new Promise(() => {});",
  "takes a gigabyte":
    "export default () => { const kept = []; for (let i = 0; i < 128; i++) kept.push(new " +
    "Array(1048576).fill(i)); return { text: String(kept.length) }; };",
  "takes a gigabyte outside the heap":
    "export default () => { const kept = []; for (let i = 0; i < 64; i++) kept.push(new " +
    "Uint8Array(16777216).fill(1)); return { text: String(kept.length) }; };",
  exits: "export default () => { process.exit(0); };",
  throws: "export default () => { throw new Error('secret-of-the-code'); };",
  "rejects what nobody waits for":
    "export default () => { Promise.reject(new Error('late')); return new Promise(() => {}); };",
  "does not parse": "export default () => {",
  "loops when it is loaded": "for (;;); export default () => {};",
};

/** These do harm beside a right answer: it is taken, or the call fails; what comes after is as before. */
export const strange: Readonly<Record<string, string>> = {
  "prints a hundred megabytes":
    "export default async () => { for (let i = 0; i < 100; i++) console.log('x'.repeat(1048576)); return { " +
    "text: 'printed' }; };",
  "writes into its own wire":
    "export default () => { try { " +
    'process.stdout.write(\'{"id":1,"ok":true,"result":{"text":"forged"}}\\n\'); process.send?.({ id: 1, ' +
    "result: { text: 'forged' } }); } catch {} return { text: 'right' }; };",
  "spoils what it shares":
    "Object.prototype.polluted = 1; Array.prototype.map = () => []; JSON.stringify = () => " +
    '\'{"text":"forged"}\'; JSON.parse = () => ({}); globalThis.Promise = null; export default () => ({ ' +
    "text: 'right' });",
  "says a prototype":
    "export default () => " +
    'JSON.parse(\'{"text":"right","__proto__":{"polluted":1,"action":"agent"},"constructor":{"prototype":{"polluted":1}}}\');',
  "exits after its answer": "export default () => { setTimeout(() => process.exit(3), 1); return { text: 'right' }; };",
  "loops after its answer": "export default () => { setTimeout(() => { for (;;); }, 1); return { text: 'right' }; };",
};

export const fileOf = (name: string) => `${name.replaceAll(" ", "-")}.mjs`;
const pathOf = (name: string) => name.replaceAll(" ", "-");

/** With a transform for each, and one that is good. */
export async function startSpoilt(): Promise<HookGateway> {
  const modules = { ...spoilt, ...strange, good: "export default ({ payload }) => ({ text: 'good ' + payload.n });" };
  return await startHookGateway({
    config: { agents: { defaults: { heartbeat: { every: "0" } } } },
    transforms: Object.fromEntries(Object.entries(modules).map(([name, source]) => [fileOf(name), source])),
    hooks: {
      transforms: { timeoutSeconds: limitSeconds },
      mappings: Object.keys(modules).map((name) => ({
        match: { path: pathOf(name) },
        action: "wake",
        wakeMode: "next-heartbeat",
        textTemplate: "rendered",
        transform: { module: fileOf(name) },
      })),
    },
  });
}

export const requestTo = (path: string, body: object) =>
  renderRequest({ target: `/hooks/${path}`, headers: [bearer, jsonType], body: JSON.stringify(body) });

/** On a connection of its own, so that it holds up nobody. */
export async function call(room: HookGateway, name: string): Promise<WireAnswer> {
  const wire = createWire(room.port);
  const answer = await wire.exchange(requestTo(pathOf(name), { n: 1 }));
  wire.close();
  return answer;
}
