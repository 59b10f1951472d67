/** Puts what a plugin brings now in the place of what it brought before. */

/** The list with others in the place of the first that are to go; at its end where there were none. */
export function replaced<T>(list: readonly T[], goes: (one: T) => boolean, others: readonly T[]): readonly T[] {
  const first = list.findIndex(goes);
  const kept = list.filter((one) => !goes(one));
  const at = first === -1 ? kept.length : first;
  return [...kept.slice(0, at), ...others, ...kept.slice(at)];
}
