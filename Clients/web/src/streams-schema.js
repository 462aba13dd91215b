// Written by protocol/generate_web.py from protocol/schema.
export const schema = `ServerFrame 19channelEnded
ChannelEnded channelType:i channel:s error`;
