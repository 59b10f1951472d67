/** What a signed-in browser may do. Each role includes the ones before it. */
export const roles = ["view", "operate", "admin"] as const;
export type Role = (typeof roles)[number];

export const includesRole = (held: Role, needed: Role): boolean => roles.indexOf(held) >= roles.indexOf(needed);

export const isRole = (value: unknown): value is Role => roles.some((role) => role === value);
