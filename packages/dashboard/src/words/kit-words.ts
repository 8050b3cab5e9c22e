import { kitEn } from "./kit-en.ts";
import { kitKo } from "./kit-ko.ts";

export const kitWords = { en: kitEn, ko: kitKo };
