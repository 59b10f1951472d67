/** Who can reach an address that the server binds. */

const onlyHere = /^(127(\.\d{1,3}){3}|::1|localhost)$/;
/** Those that stand for every address of the machine. */
const every = /^(0{1,3}(\.0{1,3}){3}|::|\[::\]|0|\*)$/;

export const isOnlyHere = (host: string): boolean => onlyHere.test(host);

/** What an operator should know of a bind that others reach; `undefined` where only this machine does. */
export function reachWarning(host: string): string | undefined {
  if (isOnlyHere(host)) return undefined;
  return every.test(host)
    ? "the gateway listens on all addresses of this machine: every network that it is in can reach it"
    : "the gateway listens on an address that other machines can reach";
}
