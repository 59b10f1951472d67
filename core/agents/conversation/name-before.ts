/** A name before a command, as people write it in groups: `@name /stop`. */
export const nameBefore = /^\s*@((?:\w|\\_)+)[,:]?\s+(?=\/)/;
