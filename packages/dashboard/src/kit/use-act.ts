import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

/**
 * An action of a button: while it is under way the button is busy and a second press does nothing;
 * afterwards everything about posts is read again. An error stands where the button is.
 */
export function useAct<A extends readonly unknown[]>(act: (...values: A) => Promise<unknown>) {
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (...values: A): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    try {
      await act(...values);
      await client.invalidateQueries({
        predicate: ({ queryKey: [kind] }) => kind === "post" || kind === "overview",
      });
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return {
    run: (...values: A) => void run(...values),
    isBusy,
    error,
    clear: () => setError(undefined),
  };
}
