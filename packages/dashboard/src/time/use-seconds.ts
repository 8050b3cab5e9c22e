import { useEffect, useState } from "react";

function now(): number {
  return Math.floor(Date.now() / 1_000);
}

/** Seconds since 1970, for what counts in seconds while it is seen. */
export function useSeconds(): number {
  const [seconds, setSeconds] = useState(now);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(now()), 500);
    return () => clearInterval(timer);
  }, []);
  return seconds;
}
