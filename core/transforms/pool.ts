/** Who runs where, and who waits: processes are few, each serves one module and one call at a time. */
import { TransformError } from "./error.ts";

/** A process with its module loaded. */
export interface Worker {
  alive(): boolean;
  /** Whether it runs what is no longer wanted: other files, other settings. */
  isStale(): boolean;
  kill(): void;
  readonly gone: Promise<void>;
}

export interface Pool<W extends Worker> {
  /** Runs `work` with a process of the module; waits for one where all are taken. */
  use<T>(module: string, work: (worker: W) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface PoolOptions<W extends Worker> {
  readonly open: (module: string) => Promise<W>;
  /** The state of the module's file; another one means that it was edited. */
  readonly mark: (module: string) => string;
  readonly now: () => number;
  /** Processes at a time, all modules together. */
  readonly size: number;
  /** Milliseconds after which an idle process is let go. */
  readonly idleMs: number;
}

interface Waiting<W> {
  readonly since: number;
  readonly take: (place: Place<W>) => void;
  readonly reject: (error: unknown) => void;
}

/** Room for one process; `worker` is there once its module is loaded. */
interface Place<W> {
  readonly crew: Crew<W>;
  worker: W | undefined;
  idleSince: number;
  busy: boolean;
}

/** One module's processes and its calls that wait, oldest first. */
interface Crew<W> {
  readonly module: string;
  readonly places: Set<Place<W>>;
  readonly waiting: Set<Waiting<W>>;
  failed: { readonly error: unknown; readonly at: number; readonly mark: string } | undefined;
}

/** So that one call that hangs does not stop its module. */
export const perModule = 2;
const maxWaiting = 1_000;
export const waitMs = 30_000;
/** Calls of a module without any process wait so long before a busy module gives one up. */
const patienceMs = 200;
/** What could not be loaded is not tried again for each request of a flood, unless its file is edited. */
const failedMs = 500;
const sweepMs = 5_000;

export function createPool<W extends Worker>({ open, mark, now, size, idleMs }: PoolOptions<W>): Pool<W> {
  const crews = new Map<string, Crew<W>>();
  const opening = new Set<Promise<void>>();
  let places = 0;
  let waiting = 0;
  /** Ended, and not gone yet. */
  let leaving = 0;
  let closed = false;
  let sweep: NodeJS.Timeout | undefined;

  function crewOf(module: string): Crew<W> {
    let crew = crews.get(module);
    if (crew === undefined) {
      crew = { module, places: new Set(), waiting: new Set(), failed: undefined };
      crews.set(module, crew);
    }
    return crew;
  }

  /** Its room is free once the process is really gone. */
  function drop(place: Place<W>): void {
    if (!place.crew.places.delete(place)) return;
    if (place.worker === undefined) places -= 1;
    else {
      leaving += 1;
      place.worker.kill();
    }
  }

  function idleOf(crew: Crew<W>): Place<W> | undefined {
    for (const place of crew.places) {
      if (place.busy || place.worker === undefined) continue;
      if (place.worker.alive() && !place.worker.isStale()) return place;
      drop(place);
    }
    return undefined;
  }

  function start(crew: Crew<W>): void {
    const place: Place<W> = { crew, worker: undefined, busy: true, idleSince: 0 };
    crew.places.add(place);
    places += 1;
    sweep ??= setInterval(retire, Math.min(sweepMs, idleMs)).unref();
    const done = bringUp(place).finally(() => opening.delete(done));
    opening.add(done);
  }

  async function bringUp(place: Place<W>): Promise<void> {
    const { crew } = place;
    // Before it is read: an edit while it is read may be in what was read, or not.
    const before = mark(crew.module);
    try {
      const worker = await open(crew.module);
      place.worker = worker;
      // While it was started, it may have become unwanted; its room was given back then.
      if (!crew.places.has(place)) {
        places += 1;
        leaving += 1;
      }
      void worker.gone.then(() => {
        if (!crew.places.delete(place)) leaving -= 1;
        places -= 1;
        fill();
      });
      if (closed || !crew.places.has(place)) worker.kill();
      else serve(place);
    } catch (error) {
      drop(place);
      crew.failed = { error, at: now(), mark: before };
      for (const call of crew.waiting) call.reject(error);
      fill();
    }
  }

  /** Starts what is missing, as far as there is room: modules without a process first, among them the one that has waited longest. */
  function fill(): void {
    if (closed || waiting === 0) return;
    const hungry = [...crews.values()].filter((crew) => crew.waiting.size > 0).sort(byNeed);
    for (const crew of hungry) {
      const starting = [...crew.places].filter((place) => place.worker === undefined).length;
      if (crew.places.size >= perModule || starting >= crew.waiting.size) continue;
      // A second process is worth an empty place, never another module's only one.
      if (places < size) start(crew);
      else if (crew.places.size === 0 && leaving === 0) makeRoom();
    }
  }

  const byNeed = (a: Crew<W>, b: Crew<W>): number => Math.min(a.places.size, 1) - Math.min(b.places.size, 1) || sinceOf(a) - sinceOf(b);

  const sinceOf = (crew: Crew<W>): number => crew.waiting.values().next().value?.since ?? Number.POSITIVE_INFINITY;

  /** Ends the process that has been idle longest; when it is gone, its room is filled. */
  function makeRoom(): void {
    let longest: Place<W> | undefined;
    for (const crew of crews.values()) {
      for (const place of crew.places) {
        if (!place.busy && (longest === undefined || place.idleSince < longest.idleSince)) longest = place;
      }
    }
    if (longest !== undefined) drop(longest);
  }

  /** A module with calls and no process at all, whose patience is at its end while every place is taken. */
  function starving(): Crew<W> | undefined {
    if (places < size) return undefined;
    const [longest] = [...crews.values()].filter(({ places }) => places.size === 0).sort((a, b) => sinceOf(a) - sinceOf(b));
    return longest !== undefined && sinceOf(longest) <= now() - patienceMs ? longest : undefined;
  }

  /** After a call. A process that was just started serves first: or it would be handed on for ever. */
  function release(place: Place<W>): void {
    const poor = waiting === 0 ? undefined : starving();
    if (poor === undefined) {
      serve(place);
      return;
    }
    // Whoever has no process comes first, when this one is gone.
    drop(place);
  }

  function serve(place: Place<W>): void {
    const { crew } = place;
    place.busy = false;
    place.idleSince = now();
    if (waiting === 0) return;
    const next = crew.waiting.values().next().value;
    const ready = next === undefined ? undefined : idleOf(crew);
    if (next === undefined || ready === undefined) fill();
    else next.take(ready);
  }

  function retire(): void {
    for (const crew of crews.values()) {
      for (const place of crew.places) if (!place.busy && now() - place.idleSince >= idleMs) drop(place);
      if (crew.places.size === 0 && crew.waiting.size === 0) crews.delete(crew.module);
    }
    if (places > 0) return;
    clearInterval(sweep);
    sweep = undefined;
  }

  function wait(crew: Crew<W>): Promise<Place<W>> {
    return new Promise((resolve, reject) => {
      if (waiting >= maxWaiting) {
        reject(new TransformError("refused", `More than ${maxWaiting} modules wait for a process already`));
        return;
      }
      const leave = (): void => {
        clearTimeout(timer);
        if (crew.waiting.delete(call)) waiting -= 1;
      };
      const call: Waiting<W> = {
        since: now(),
        take(place) {
          leave();
          place.busy = true;
          resolve(place);
        },
        reject(error) {
          leave();
          reject(error);
        },
      };
      const timer = setTimeout(
        () => call.reject(new TransformError("timeout", `It waited ${waitMs / 1_000} s for a free process`)),
        waitMs,
      );
      crew.waiting.add(call);
      waiting += 1;
      fill();
    });
  }

  return {
    async use(module, work) {
      if (closed) throw new TransformError("refused", "The gateway closes");
      const crew = crewOf(module);
      const { failed } = crew;
      if (failed !== undefined && now() - failed.at < failedMs && failed.mark === mark(module)) throw failed.error;
      crew.failed = undefined;
      const place = (crew.waiting.size === 0 ? idleOf(crew) : undefined) ?? (await wait(crew));
      place.busy = true;
      try {
        return await work(place.worker as W);
      } finally {
        if (place.worker?.alive() === true) release(place);
        else {
          drop(place);
          fill();
        }
      }
    },
    async close() {
      closed = true;
      clearInterval(sweep);
      const all = [...crews.values()];
      for (const crew of all) for (const call of crew.waiting) call.reject(new TransformError("refused", "The gateway closes"));
      const gone = all.flatMap((crew) => [...crew.places]).map((place) => place.worker?.gone);
      for (const crew of all) for (const place of crew.places) drop(place);
      await Promise.allSettled([...opening, ...gone]);
    },
  };
}
