import { useSearchParams } from "wouter";
import { type Measure, MEASURES, type Window, WINDOWS } from "./readings.ts";

/** What the screen shows; it lies in the address, so that reload and "back" keep it. */
export function useChoice() {
  const [parameters, setParameters] = useSearchParams();
  const set = (name: string, value: string) =>
    setParameters(
      (before) => {
        const after = new URLSearchParams(before);
        if (value === "") after.delete(name);
        else after.set(name, value);
        return after;
      },
      { replace: true },
    );
  const measure: Measure = MEASURES.find((one) => one === parameters.get("measure")) ?? "seen";
  const window: Window = WINDOWS.find((one) => one === parameters.get("window")) ?? "h48";
  return {
    measure,
    window,
    postId: parameters.get("post"),
    account: parameters.get("account") ?? "",
    set,
  };
}

export type Choice = ReturnType<typeof useChoice>;
