import { useQuery } from "@tanstack/react-query";
import { queueApi } from "../../queue/queue-api.ts";

/** When the next free slot of all rules is; undefined when there is none. */
export function useNextSlot(): string | undefined {
  const { data } = useQuery(queueApi.rules());
  return data?.rules.flatMap(({ nextSlots }) => nextSlots).toSorted()[0];
}
