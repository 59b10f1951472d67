/** Reads fields of JSON that comes from outside: a field of another type is absent. */
export type Fields = Readonly<Record<string, unknown>>;

export const record = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

export const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The objects in a list. */
export const records = (value: unknown): readonly Fields[] =>
  list(value)
    .map(record)
    .filter((each) => each !== undefined);

/** An id of the platform, a number as text. */
export const id = (value: unknown): string | undefined =>
  typeof value === "string" && /^\d{1,20}$/.test(value) ? value : undefined;
