/** `URL` and `URLSearchParams`, implemented with the host's parser. */
import { ask } from "./bridge.ts";

type Parts = Readonly<Record<string, string>>;
type Pairs = [string, string][];

const partsOf = new WeakMap<object, Parts>();
const changed = new WeakMap<object, () => void>();
const settable = ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];

export class GuestParams {
  #pairs: Pairs;

  constructor(init: unknown = "") {
    if (typeof init === "object" && init !== null) {
      const list = Symbol.iterator in init ? Array.from(init as Iterable<Iterable<unknown>>) : Object.entries(init);
      this.#pairs = list.map((pair) => {
        const [name, value, ...rest] = Array.from(pair as Iterable<unknown>);
        if (value === undefined || rest.length > 0) throw new TypeError("Each query pair must be a name and a value");
        return [String(name), String(value)];
      });
    } else this.#pairs = ask<Pairs>("query.parse", String(init));
  }
  /** Parses the pairs again after the address's search was set. */
  static reset(params: GuestParams, search: string): void {
    params.#pairs = ask<Pairs>("query.parse", search);
  }
  #set(pairs: Pairs): void {
    this.#pairs = pairs;
    changed.get(this)?.();
  }
  get size(): number {
    return this.#pairs.length;
  }
  append(name: unknown, value: unknown): void {
    this.#set([...this.#pairs, [String(name), String(value)]]);
  }
  delete(name: unknown, value?: unknown): void {
    this.#set(
      this.#pairs.filter((pair) => !(pair[0] === String(name) && (value === undefined || pair[1] === String(value)))),
    );
  }
  get(name: unknown): string | null {
    return this.#pairs.find((pair) => pair[0] === String(name))?.[1] ?? null;
  }
  getAll(name: unknown): string[] {
    return this.#pairs.filter((pair) => pair[0] === String(name)).map(([, value]) => value);
  }
  has(name: unknown, value?: unknown): boolean {
    return this.#pairs.some((pair) => pair[0] === String(name) && (value === undefined || pair[1] === String(value)));
  }
  set(name: unknown, value: unknown): void {
    const at = this.#pairs.findIndex((pair) => pair[0] === String(name));
    if (at === -1) this.append(name, value);
    else {
      const rest = this.#pairs.filter((pair, index) => index <= at || pair[0] !== String(name));
      this.#set(rest.map((pair, index) => (index === at ? [pair[0], String(value)] : pair)));
    }
  }
  sort(): void {
    this.#set(this.#pairs.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  }
  forEach(run: (value: string, name: string, params: GuestParams) => void, self?: unknown): void {
    for (const [name, value] of [...this.#pairs]) run.call(self, value, name, this);
  }
  *entries(): Generator<[string, string]> {
    for (const [name, value] of this.#pairs) yield [name, value];
  }
  *keys(): Generator<string> {
    for (const [name] of this.#pairs) yield name;
  }
  *values(): Generator<string> {
    for (const [, value] of this.#pairs) yield value;
  }
  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }
  toString(): string {
    return ask("query.write", this.#pairs);
  }
}

export class GuestAddress {
  #params: GuestParams | undefined;

  constructor(address: unknown, base?: unknown) {
    partsOf.set(this, ask<Parts>("url", String(address), ...(base === undefined ? [] : [String(base)])));
  }
  static canParse(address: unknown, base?: unknown): boolean {
    return GuestAddress.parse(address, base) !== null;
  }
  static parse(address: unknown, base?: unknown): GuestAddress | null {
    try {
      return new GuestAddress(address, base);
    } catch {
      return null;
    }
  }
  get searchParams(): GuestParams {
    if (this.#params === undefined) {
      const params = new GuestParams(partsOf.get(this)?.search);
      changed.set(params, () => update(this, "search", params.toString()));
      this.#params = params;
    }
    return this.#params;
  }
  /** Updates the address after one of its parts was set. */
  static refresh(address: GuestAddress, parts: Parts, name: string): void {
    partsOf.set(address, parts);
    if (address.#params !== undefined && (name === "search" || name === "href"))
      GuestParams.reset(address.#params, parts.search ?? "");
  }
  toString(): string {
    return partsOf.get(this)?.href ?? "";
  }
  toJSON(): string {
    return this.toString();
  }
}

function update(address: GuestAddress, name: string, value: string): void {
  GuestAddress.refresh(address, ask<Parts>("url.set", address.toString(), name, value), name);
}

for (const name of [...settable, "origin"]) {
  Object.defineProperty(GuestAddress.prototype, name, {
    configurable: true,
    enumerable: true,
    get(this: GuestAddress) {
      return partsOf.get(this)?.[name];
    },
    ...(name === "origin"
      ? {}
      : {
          set(this: GuestAddress, value: unknown) {
            update(this, name, String(value));
          },
        }),
  });
}
