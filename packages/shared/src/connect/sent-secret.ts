/** The secret that a caller sends: the first in the list of `INTERNAL_SECRET`, which has several during a rotation. */
export function secretToSend(list: string): string {
  return list.split(",")[0]?.trim() ?? "";
}
