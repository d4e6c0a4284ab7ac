(define (problem keys-02)
  (:domain keys)
  (:objects
    hall attic vault - place
    k1 - key
    round - shape
  )
  (:init
    (here hall)
    (path hall attic)
    (path attic hall)
    (path hall vault)
    (path vault hall)
    (lies k1 attic)
    (fits k1 round)
    (lock vault round)
    (shut vault)
  )
  (:goal (and
    (here vault)
  )))
