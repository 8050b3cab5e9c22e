import { webhooksEn } from "./words-en.ts";
import { webhooksKo } from "./words-ko.ts";

export const webhooksWords = { en: webhooksEn, ko: webhooksKo };
