// Written by protocol/generate_web.py from protocol/schema.
export const schema = `LoggedIn 9publishRates
PublishRates targetMessages:u sessionMessages:u sessionBytes:u topicMessages:u`;
