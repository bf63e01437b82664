export function pile() { return false; }
