import { automationsEn } from "./words-en.ts";
import { automationsKo } from "./words-ko.ts";

export const automationsWords = { en: automationsEn, ko: automationsKo };
