// Offsets of the canonical layout. They are the server's, name by name
// (games/schema/layout.go), because both sides run the same compiled bodies on it.

export const HeaderTick = 0;
export const HeaderFlags = 4;
export const HeaderNextShared = 8;
export const HeaderNextServer = 12;
export const HeaderSeed = 16;
export const HeaderServerSeed = 24;
export const HeaderCounts = 32;

export const CountRows = 0;
export const CountLive = 4;
export const CountSorted = 8;
export const CountsSize = 16;

export const RowID = 0;
export const RowMark = 4;
export const RowOwner = 8;

export const InputHeader = 16;
export const SkipSize = 8;
export const CommandPlayer = 0;
export const CommandSeq = 4;
export const CommandNumber = 8;
export const CommandFields = 16;
export const AllActors = 0xffffffff;

export const InstanceType = 0;
export const PlayerType = 1;

// In a game with a view body the viewer cannot know which id the server gives
// next, so objects that it makes itself count from here until it is told better.
export const FirstProvisional = 0x80000002;
