(define (problem gripper-generated)
  (:domain gripper)
  (:objects
    ball1 ball2 ball3 ball4 ball5 ball6 - ball
    room1 room2 room3 - room
  )
  (:init
    (robot-in room3)
    (free left)
    (free right)
    (in ball1 room2)
    (in ball2 room3)
    (in ball3 room2)
    (in ball4 room3)
    (in ball5 room1)
    (in ball6 room2)
  )
  (:goal (and
    (in ball1 room1)
    (in ball2 room1)
    (in ball3 room1)
    (in ball4 room1)
    (in ball5 room2)
    (in ball6 room1)
  )))
