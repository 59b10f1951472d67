/**
 * The files below a transforms root, by name: `/a.ts` is `a.ts` in the root. A file is read once, through a path that
 * is checked before and after, and kept as text: a file that is swapped or linked later changes nothing.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { join, relative, sep } from "node:path";
import { TransformError } from "../error.ts";
import { isInside } from "../root.ts";

const maxFiles = 2_000;
const maxFileBytes = 16 * 1_048_576;
/** Packages have many files that are rarely edited, so they are checked once a second. */
const packagesEveryMs = 1_000;

/** Identifies one state of a file. */
type FileMark = string;

const markOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): FileMark => `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;

export interface CheckedFiles {
  /** The path of a name on this machine. */
  place(name: string): string;
  /** The name of a path on this machine; `undefined` when the path is outside the root. */
  nameOf(path: string): string | undefined;
  /**
   * The file at a name, by the name of its real path; `undefined` when there is none. Throws `TransformError`
   * (`refused`).
   */
  find(name: string): string | undefined;
  /** The text of a file that `find` named. Throws `TransformError` (`refused`). */
  read(name: string): string;
  /** Whether a file that was read, or that a link names, has changed. */
  isStale(now: number): boolean;
}

export function createCheckedFiles(realRoot: string): CheckedFiles {
  const texts = new Map<string, string>();
  /** The requested paths, including links, with the state of the files that they lead to. */
  const own = new Map<string, FileMark>();
  const packages = new Map<string, FileMark>();
  let packagesAt = 0;

  const place = (name: string): string => join(realRoot, name);
  const nameOf = (path: string): string | undefined =>
    isInside(realRoot, path) ? `/${relative(realRoot, path).split(sep).join("/")}` : undefined;
  const remember = (path: string, mark: FileMark): void => {
    (path.includes(`node_modules${sep}`) ? packages : own).set(path, mark);
  };

  const changed = (files: ReadonlyMap<string, FileMark>): boolean => {
    for (const [path, mark] of files) {
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats === undefined || markOf(stats) !== mark) return true;
    }
    return false;
  };

  return {
    place,
    nameOf,
    find(name) {
      const path = place(name);
      let real: string;
      try {
        real = realpathSync(path);
        if (!statSync(real).isFile()) return undefined;
      } catch {
        return undefined;
      }
      const found = nameOf(real);
      if (found === undefined) throw refused(name.slice(1), "is a symbolic link that ends outside the transforms root");
      if (real !== path) remember(path, markOf(statSync(path)));
      return found;
    },
    read(name) {
      const known = texts.get(name);
      if (known !== undefined) return known;
      if (texts.size >= maxFiles)
        throw refused(name.slice(1), `exceeds the limit: a transform reads at most ${maxFiles} files`);
      const path = place(name);
      const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
      try {
        const stats = fstatSync(descriptor);
        if (stats.size > maxFileBytes) throw refused(name.slice(1), `is larger than ${maxFileBytes / 1_048_576} MB`);
        const text = readFileSync(descriptor, "utf8");
        // The file that was opened must be the one at the checked path.
        const now = lstatSync(path);
        if (!stats.isFile() || now.ino !== stats.ino || now.dev !== stats.dev || realpathSync(path) !== path) {
          throw refused(name.slice(1), "was replaced while it was read");
        }
        remember(path, markOf(stats));
        texts.set(name, text);
        return text;
      } finally {
        closeSync(descriptor);
      }
    },
    isStale(now) {
      if (changed(own)) return true;
      if (packages.size === 0 || now - packagesAt < packagesEveryMs) return false;
      packagesAt = now;
      return changed(packages);
    },
  };
}

export const refused = (what: string, why: string): TransformError => new TransformError("refused", `${what} ${why}`);
