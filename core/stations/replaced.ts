/** Puts what a plugin brings now in the place of what it brought before. */

/** The list with others in the place of the first that are to go; at its end where there were none. */
export function replaced<T>(list: readonly T[], goes: (one: T) => boolean, others: readonly T[]): readonly T[] {
  const first = list.findIndex(goes);
  const remaining = list.filter((one) => !goes(one));
  const at = first === -1 ? remaining.length : first;
  return [...remaining.slice(0, at), ...others, ...remaining.slice(at)];
}
