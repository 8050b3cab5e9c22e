import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { Button } from "./button.tsx";

const SHOWN_MS = 2_000;

interface CopyButtonProps {
  readonly text: string;
  /** What is copied, for screen readers and as the tooltip. */
  readonly label: string;
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const words = useWords(kitWords);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <>
      <Button
        kind="ghost"
        small
        icon={isCopied ? Check : Copy}
        aria-label={label}
        onClick={() => void copy()}
      />
      <span className="sr" role="status">
        {isCopied && words.copied}
      </span>
    </>
  );
}
