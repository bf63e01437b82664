export function keys(player: rules.Player, { left, right }: rules.KeysCommand) { player.left = left; player.right = right; }
export function jump(player: rules.Player) { player.jump = 4; }
