import { frameEn } from "./frame-en.ts";
import { frameKo } from "./frame-ko.ts";

export const frameWords = { en: frameEn, ko: frameKo };
