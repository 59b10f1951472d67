/**
 * Units that were new when this process took them, with where their rows are: what is written for them needs no look first. Only a
 * hint: the writer changes a row only if it is that unit's, and running.
 */
interface OwnUnit {
  readonly row: number;
  /** How many rows it has put into the outbox. */
  parts: number;
}

export interface OwnUnits {
  took(unitId: string, row: number): void;
  /** `null`: the writer has to look. */
  rowOf(unitId: string): number | null;
  said(unitId: string, parts: number): void;
  /** Whether it has put nothing into the outbox but what is sent by now; false where that is not known. */
  hasSentAll(unitId: string, sent: 0 | 1): boolean;
  forget(unitId: string): void;
}

export function createOwnUnits(): OwnUnits {
  const units = new Map<string, OwnUnit>();
  return {
    took: (unitId, row) => void units.set(unitId, { row, parts: 0 }),
    rowOf: (unitId) => units.get(unitId)?.row ?? null,
    said(unitId, parts) {
      const unit = units.get(unitId);
      if (unit !== undefined) unit.parts += parts;
    },
    hasSentAll: (unitId, sent) => units.get(unitId)?.parts === sent,
    forget: (unitId) => void units.delete(unitId),
  };
}
