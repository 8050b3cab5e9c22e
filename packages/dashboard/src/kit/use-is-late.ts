import { useEffect, useState } from "react";

const LATE_AFTER_MS = 2_000;

/** Whether what was shown before has stood for what is asked for now for longer than `afterMs`. */
export function useIsLate(isWaiting: boolean, afterMs = LATE_AFTER_MS): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setTimeout(() => setLate(true), afterMs);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isWaiting, afterMs]);
  return isLate && isWaiting;
}
