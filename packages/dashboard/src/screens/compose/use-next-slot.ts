import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/api.ts";

/** When the next free slot of all rules is; undefined when there is none. */
export function useNextSlot(): string | undefined {
  const { data } = useQuery({
    queryKey: ["queue", "list"],
    queryFn: ({ signal }) => api.listQueueSlotRules({}, { signal }),
  });
  return data?.rules.flatMap(({ nextSlots }) => nextSlots).toSorted()[0];
}
